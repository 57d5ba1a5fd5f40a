package observe_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/internal/run/known"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestNoDifferenceFromAControllerThatDecidesAlike lets a controller work in simulated worlds: its requests fail in all
// ways, and users edit and delete. An observer is shown all that was stored, with its two watches out of step. It finds
// no difference.
func TestNoDifferenceFromAControllerThatDecidesAlike(t *testing.T) {
	seen := 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			o := newObserver(t)
			shown := worked(t, seed, jobsOf(seed))
			seen += len(shown)
			o.show(shown, rand.New(rand.NewPCG(seed, 1)))
			if found := o.found(); len(found) > 0 {
				t.Errorf("it would have decided otherwise:\n%s\nlast records:\n%s", strings.Join(found, "\n"), o.records(60))
			}
		})
	}
	if seen < 2000 {
		t.Errorf("only %d events were shown", seen)
	}
}

// TestPlantedDifferencesAreFound: each row plants one error of another controller, of a sort that can be found. The
// observer finds it.
func TestPlantedDifferencesAreFound(t *testing.T) {
	plain := func() *batchv1.Job {
		return job("demo", func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(3)), new(int32(2)) })
	}
	for _, tt := range []struct {
		name   string
		job    *batchv1.Job
		fail   float64 // share of pods that fail
		tamper func(event) (event, bool)
		want   string
	}{
		{
			"it makes no pods", plain(), 0,
			func(e event) (event, bool) { _, pod := e.Object.(*corev1.Pod); return e, !pod && !written(e) },
			"MorePodsWanted",
		},
		{
			"it makes too many pods", plain(), 0,
			func(e event) (event, bool) {
				j, ok := e.Object.(*batchv1.Job)
				if ok {
					j.Spec.Parallelism = new(int32(1))
				}
				_, pod := e.Object.(*corev1.Pod)
				return e, (!ok || !written(e)) && (!pod || !ended(e))
			},
			"FewerPodsWanted",
		},
		{
			"it never writes how far the Job is", plain(), 0,
			func(e event) (event, bool) {
				p, pod := e.Object.(*corev1.Pod)
				return e, !written(e) && (!pod || len(p.Finalizers) > 0)
			},
			"CompletionsReached",
		},
		{
			"it fails the Job for another reason", job("demo", func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(0)) }), 1,
			func(e event) (event, bool) {
				if j, ok := e.Object.(*batchv1.Job); ok {
					for i := range j.Status.Conditions {
						j.Status.Conditions[i].Reason = "DeadlineExceeded"
					}
				}
				return e, true
			},
			"Unexplained",
		},
		{
			"it completes the Job too early", plain(), 0,
			func(e event) (event, bool) {
				unseen := func(uid types.UID) bool { return uid[7] == '4' } // one of three pods
				if j, ok := e.Object.(*batchv1.Job); ok {
					j.Status.Succeeded = min(j.Status.Succeeded, 2)
					if u := j.Status.UncountedTerminatedPods; u != nil {
						u.Succeeded = slices.DeleteFunc(u.Succeeded, unseen)
					}
				}
				if p, pod := e.Object.(*corev1.Pod); pod && unseen(p.UID) {
					return e, false
				}
				return e, true
			},
			"Unexplained",
		},
		{
			"it leaves finalizers", plain(), 0,
			func(e event) (event, bool) {
				p, pod := e.Object.(*corev1.Pod)
				return e, !pod || len(p.Finalizers) > 0
			},
			"Accounted",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			honest, o := newObserver(t), newObserver(t)
			shown := worked(t, 7, []*batchv1.Job{tt.job}, func(c *drive.Config) {
				c.Faults, c.World.UserChance, c.World.Kubelet.FailRate = nil, 0, tt.fail
			})
			honest.show(shown, rand.New(rand.NewPCG(1, 1)))
			if found := honest.found(); len(found) > 0 {
				t.Fatalf("without anything planted: %s", found)
			}
			var tampered []event
			for _, e := range shown {
				e.Object = e.Object.DeepCopyObject().(apiserver.Object)
				if e, keep := tt.tamper(e); keep {
					tampered = append(tampered, e)
				}
			}
			o.show(tampered, rand.New(rand.NewPCG(1, 1)))
			found := strings.Join(o.found(), "\n")
			if !strings.Contains(found, tt.want) {
				t.Errorf("want %s, found %q; the records:\n%s", tt.want, found, o.records(40))
			}
			if n := strings.Count(found, tt.want); n > 3 {
				t.Errorf("the same difference is told %d times:\n%s", n, found)
			}
		})
	}
}

// written reports whether the event is a version of a Job after a write of its status.
func written(e event) bool {
	j, ok := e.Object.(*batchv1.Job)
	return ok && j.Status.UncountedTerminatedPods != nil
}

func ended(e event) bool {
	p := e.Object.(*corev1.Pod)
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// event is an event of a watch, with the time at which the object was stored.
type event struct {
	apiserver.Event
	at time.Time
}

// worked lets a controller work in the world of a seed until nothing happens any more. It returns the events of the
// watches for Jobs and pods.
func worked(t *testing.T, seed uint64, jobs []*batchv1.Job, change ...func(*drive.Config)) []event {
	t.Helper()
	upTo := func(seconds int) kubelet.Range { return kubelet.Range{Max: time.Duration(seconds) * time.Second} }
	cfg := drive.Config{
		Settings: events.DefaultSettings(),
		World: world.Config{
			Seed: seed, UserChance: 0.02,
			UsersOff: []users.Deed{users.RelabelPod, users.RestoreLabels, users.OrphanPod, users.ReindexPod, users.MeddleJob},
			Kubelet: kubelet.Config{
				Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Stop: upTo(25), Confirm: upTo(2), FailRate: 0.2,
			},
		},
		Faults: apiserver.Rates{
			apiserver.TimeoutBefore: 0.01, apiserver.TimeoutAfter: 0.01, apiserver.ServerError: 0.02, apiserver.TouchedByAnother: 0.04,
		},
		Cut: 0.004,
	}
	for _, c := range change {
		c(&cfg)
	}
	d, err := drive.New(cfg, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Steps(1000); err != nil {
		t.Fatal(err)
	}
	if err := d.Settle(); err != nil {
		t.Fatal(err)
	}
	at := map[uint64]time.Time{}
	for _, w := range d.World.Server.Writes(0) {
		at[w.Version] = w.Time
	}
	var out []event
	for _, kind := range []apiserver.Kind{apiserver.Jobs, apiserver.Pods} {
		cursor, err := d.World.Server.Watch(kind, 0)
		if err != nil {
			t.Fatal(err)
		}
		for e, ok, err := cursor.Next(); ok; e, ok, err = cursor.Next() {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, event{e, at[e.Version]})
		}
	}
	return out
}

// observer is a controller in observe mode.
type observer struct {
	t        *testing.T
	settings events.Settings
	log      *memlog.Log
	loop     *loop.Loop
	feed     *observation.Feed
	now      events.Time
	jobs     map[types.UID]*batchv1.Job // that exist, in the version that was shown last
	pods     map[types.UID]*corev1.Pod
	version  string  // of the newest object that was shown
	restarts float64 // chance, for each event, that the process is killed before it
}

func newObserver(t *testing.T) *observer {
	settings := events.DefaultSettings()
	settings.Mode = events.ModeObserve
	return startObserver(t, settings)
}

func startObserver(t *testing.T, settings events.Settings) *observer {
	o := &observer{
		t: t, settings: settings, log: memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), now: events.At(world.Start),
		jobs: map[types.UID]*batchv1.Job{}, pods: map[types.UID]*corev1.Pod{}, version: "1",
	}
	o.start()
	return o
}

// start begins a process on the log as it is. The process lists the objects that exist.
func (o *observer) start() {
	o.t.Helper()
	folded, err := loop.Recover(o.t.Context(), o.log)
	if err != nil {
		o.t.Fatal(err)
	}
	o.feed = observation.NewFeed(observation.Config{
		Mode: o.settings.Mode, Others: o.settings.ObserveOthers, Identity: o.log.Identity(), Known: known.Of(folded),
	})
	o.loop = loop.New(loop.Config{
		Log: o.log, World: folded, Settings: o.settings, Program: "test", Salt: func() events.Salt { return events.Salt{1} },
		Patience: 5 * time.Minute, // time in simulated worlds goes on by jumps, whatever is in flight
	})
	if err := o.loop.Start(o.now); err != nil {
		o.t.Fatal(err)
	}
	var jobs []*batchv1.Job
	for _, j := range o.jobs {
		jobs = append(jobs, j.DeepCopy())
	}
	var pods []*corev1.Pod
	for _, p := range o.pods {
		pods = append(pods, p.DeepCopy())
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return strings.Compare(string(a.UID), string(b.UID)) })
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(string(a.UID), string(b.UID)) })
	for _, err := range []error{o.feed.ListJobs(jobs, o.version), o.feed.ListPods(pods, o.version)} {
		if err != nil {
			o.t.Fatal(err)
		}
	}
	o.turn()
}

// turn makes the turns that are due now.
func (o *observer) turn() {
	o.t.Helper()
	var inputs []loop.Input
	for seen, ok := o.feed.Take(); ok; seen, ok = o.feed.Take() {
		inputs = append(inputs, loop.Input{Observation: &seen})
	}
	if n, err := o.loop.Turn(o.now, inputs); err != nil || n != len(inputs) {
		o.t.Fatalf("turn took %d of %d inputs: %v", n, len(inputs), err)
	}
	if tasks, give := o.loop.Durable(o.log.Head().Sequence); len(tasks)+len(give) > 0 {
		o.t.Fatalf("in observe mode commands are to be carried out: %+v", tasks)
	}
}

// pass lets time go by, and makes each turn that becomes due.
func (o *observer) pass(to events.Time) {
	o.t.Helper()
	for wake := o.loop.Wake(); wake != 0 && wake <= to; wake = o.loop.Wake() {
		o.now = max(o.now, wake)
		o.turn()
	}
	o.now = max(o.now, to)
}

// show delivers the events of Jobs in their order, and those of pods in theirs; the two are out of step by up to a
// second. Ten minutes pass after the last event.
func (o *observer) show(all []event, rng *rand.Rand) {
	o.t.Helper()
	var queues [2][]event
	for _, e := range all {
		k := 0
		if _, pod := e.Object.(*corev1.Pod); pod {
			k = 1
		}
		e.at = e.at.Add(time.Duration(rng.Int64N(int64(time.Second))))
		if n := len(queues[k]); n > 0 && e.at.Before(queues[k][n-1].at) {
			e.at = queues[k][n-1].at
		}
		queues[k] = append(queues[k], e)
	}
	for len(queues[0])+len(queues[1]) > 0 {
		k := 0
		if len(queues[0]) == 0 || len(queues[1]) > 0 && queues[1][0].at.Before(queues[0][0].at) {
			k = 1
		}
		e := queues[k][0]
		queues[k] = queues[k][1:]
		o.pass(events.At(e.at))
		if rng.Float64() < o.restarts {
			o.start()
		}
		o.deliver(e)
		o.turn()
	}
	o.pass(o.now.Add(10 * time.Minute))
}

func (o *observer) deliver(e event) {
	o.t.Helper()
	var err error
	gone := e.Type == watch.Deleted
	o.keep(e.Object, gone)
	switch object := e.Object.DeepCopyObject().(type) {
	case *batchv1.Job:
		if gone {
			err = o.feed.JobDeleted(object)
		} else {
			err = o.feed.JobChanged(object)
		}
	case *corev1.Pod:
		if gone {
			err = o.feed.PodDeleted(object)
		} else {
			err = o.feed.PodChanged(object)
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// keep changes the next list by one event.
func (o *observer) keep(object apiserver.Object, gone bool) {
	if newer(object.GetResourceVersion(), o.version) {
		o.version = object.GetResourceVersion()
	}
	uid := object.GetUID()
	switch object := object.(type) {
	case *batchv1.Job:
		if o.jobs[uid] = object; gone {
			delete(o.jobs, uid)
		}
	case *corev1.Pod:
		if o.pods[uid] = object; gone {
			delete(o.pods, uid)
		}
	}
}

// newer reports whether resourceVersion a is newer than b.
func newer(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// found returns the differences as sentences. It fails the test if a record has a command or if the replay diverges.
func (o *observer) found() []string {
	o.t.Helper()
	var out []string
	again := replay.New()
	for rec, err := range o.log.Read(context.Background(), 0) {
		if err != nil {
			o.t.Fatal(err)
		}
		if rec.Kind == events.KindDecided || rec.Kind == events.KindCommandEnded {
			o.t.Errorf("record %d: %s in observe mode", rec.Sequence, rec.Kind)
		}
		if rec.Kind == events.KindWouldDecide {
			for _, s := range rec.Facts.(*events.Decision).Steps {
				out = append(out, fmt.Sprintf("%d %s %s: %s %+v", rec.Sequence, rec.Stream, s.Reason, s.Sentence, s.Commands))
			}
		}
		if diverges, err := again.Record(rec); err != nil || len(diverges) > 0 {
			o.t.Errorf("record %d: %v %v", rec.Sequence, diverges, err)
		}
	}
	return out
}

func (o *observer) records(n int) string {
	var lines []string
	for rec, err := range o.log.Read(context.Background(), 0) {
		if err != nil {
			o.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d %s %s %s %s %+v", rec.Sequence, rec.Time.Go().Format("04:05.0"), rec.Stream, rec.Kind, rec.Evidence.Name, rec.Facts))
	}
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func job(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
			}},
		},
	}
	change(&j.Spec)
	return j
}

// jobsOf returns the Jobs of a seed.
func jobsOf(seed uint64) []*batchv1.Job {
	rng := world.Rand(seed, 10)
	var out []*batchv1.Job
	for i := range 1 + rng.IntN(3) {
		out = append(out, job(fmt.Sprintf("job-%d", i), func(s *batchv1.JobSpec) {
			s.Parallelism, s.Completions = new(int32(1+rng.IntN(5))), new(int32(1+rng.IntN(8)))
			s.BackoffLimit = new(int32(rng.IntN(5)))
			switch rng.IntN(4) {
			case 0:
				s.Completions = nil
			case 1:
				s.CompletionMode = new(batchv1.IndexedCompletion)
			case 2:
				s.CompletionMode = new(batchv1.IndexedCompletion)
				s.BackoffLimitPerIndex, s.BackoffLimit = new(int32(rng.IntN(3))), nil
			}
			if rng.IntN(5) == 0 {
				s.ActiveDeadlineSeconds = new(int64(5 + rng.IntN(60)))
			}
			if rng.IntN(4) == 0 {
				s.PodReplacementPolicy = new(batchv1.Failed)
			}
		}))
	}
	return out
}

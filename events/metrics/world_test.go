package metrics_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/metrics"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// seeds returns the number of worlds: under the race detector each takes up to a second.
func seeds() uint64 {
	if effort.IsLong() {
		return 400
	}
	return 16
}

// TestCountsAreWhatTheServerStored lets the controller work in simulated worlds: requests fail in all ways, and users
// edit, delete and strip finalizers. The counters are compared with the API server's own list of writes (J-198, J-199,
// J-202, J-203). For J-201 the two counters differ by the pods that hold the finalizer.
func TestCountsAreWhatTheServerStored(t *testing.T) {
	counted := map[string]float64{}
	for seed := range seeds() {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			d := worked(t, seed)
			m := metrics.New()
			if err := metrics.Follow(d.Log(), projector.NewWorld(), m).CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			got, want := sums(t, m), stored(d.World.Server.Writes(0), known(t, d.Log()))
			for _, name := range slices.Sorted(maps.Keys(want)) {
				counted[name] += want[name]
				if got[name] != want[name] {
					t.Errorf("%s: counted %g, the server stored %g", name, got[name], want[name])
				}
			}
			if a, b, left := got[added], got[deleted], held(d.World.Server.AllPods()); a-b != left || a == 0 {
				t.Errorf("J-201: %g added, %g deleted, %g are left", a, b, left)
			}
			if n := got["job_syncs_total"]; n < got["jobs_finished_total"] {
				t.Errorf("%g syncs", n)
			}
		})
	}
	if len(counted) < 5 {
		t.Errorf("the worlds had nothing to count: %v", counted)
	}
}

// TestCountingGoesOnAfterAStart: a process crashes with nothing in flight, and another one starts. Their counters add
// up to those of a reader of the whole log.
func TestCountingGoesOnAfterAStart(t *testing.T) {
	started := 0
	for seed := range seeds() {
		d := worked(t, seed, func(c *drive.Config) { c.Crash = 0.01 })
		world := projector.NewWorld()
		at := events.Sequence(0)
		for rec, err := range d.Log().Read(context.Background(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Kind == events.KindControllerStarted && world.Head > 50 && !world.Listing && calm(world) {
				at = world.Head
				break
			}
			world.Apply(&rec)
		}
		if at == 0 {
			continue
		}
		started++
		count := func(from *projector.World, to events.Sequence) map[string]float64 {
			m := metrics.New()
			c := metrics.Follow(prefix{d.Log(), to}, from, m)
			if err := c.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			return sums(t, m)
		}
		before, after, whole := count(projector.NewWorld(), at), count(world, 0), count(projector.NewWorld(), 0)
		// Pods that are found at a start are added by both processes, as by the built-in controller.
		before[added] -= before[added] - before[deleted]
		for name, n := range whole {
			if strings.HasPrefix(name, "job_sync") {
				continue // an earlier crash took their end; a reader that went on has counted them
			}
			if got := before[name] + after[name]; got != n {
				t.Errorf("seed %d: %s: %g through record %d and %g after, and %g in all", seed, name, before[name], at, after[name], n)
			}
		}
	}
	if started < 5 {
		t.Errorf("only %d logs had a calm crash", started)
	}
}

// TestACreateThatACrashLeftInDoubtIsCountedOnce: the process that learns the outcome counts it (J-203).
func TestACreateThatACrashLeftInDoubtIsCountedOnce(t *testing.T) {
	const name = "job_pods_creation_total succeeded"
	busy := 0
	for seed := range seeds() {
		d := worked(t, seed, func(c *drive.Config) { c.Crash = 0.01 })
		counted := 0.0
		ends := lives(t, d.Log())
		for i, end := range ends {
			world := projector.NewWorld()
			if i > 0 {
				fold(t, prefix{d.Log(), ends[i-1]}, world)
				if !calm(world) {
					busy++
				}
			}
			m := metrics.New()
			if err := metrics.Follow(prefix{d.Log(), end}, world, m).CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			counted += sums(t, m)[name]
		}
		if want := stored(d.World.Server.Writes(0), known(t, d.Log()))[name]; counted != want {
			t.Errorf("seed %d: %d processes counted %g, and the server made %g", seed, len(ends), counted, want)
		}
	}
	if busy < 10 {
		t.Errorf("only %d starts had something in flight", busy)
	}
}

// lives returns the last record of each process; 0 for the last process.
func lives(t *testing.T, log store.Reader) (ends []events.Sequence) {
	t.Helper()
	for rec, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind == events.KindControllerStarted && len(ends) == 0 {
			ends = append(ends, 0)
		} else if rec.Kind == events.KindControllerStarted {
			ends = append(ends[:len(ends)-1], rec.Sequence-1, 0)
		}
	}
	return ends
}

// fold applies a log to a world.
func fold(t *testing.T, log store.Reader, world *projector.World) {
	t.Helper()
	for rec, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		world.Apply(&rec)
	}
}

const added, deleted = "terminated_pods_tracking_finalizer_total add", "terminated_pods_tracking_finalizer_total delete"

// prefix is a log up to a record.
type prefix struct {
	store.Reader
	end events.Sequence // 0 for all
}

func (p prefix) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for rec, err := range p.Reader.Read(ctx, from) {
			if p.end != 0 && rec.Sequence > p.end || !yield(rec, err) {
				return
			}
		}
	}
}

// calm reports whether no command is in flight or in doubt.
func calm(w *projector.World) bool {
	for _, j := range w.Jobs() {
		if j.Busy() || j.Look { // the write of unknown end may be stored, and is history then
			return false
		}
	}
	return true
}

// worked returns the world of a seed, after the controller worked in it until nothing happened any more.
func worked(t *testing.T, seed uint64, change ...func(*drive.Config)) *drive.Driver {
	t.Helper()
	upTo := func(seconds int) kubelet.Range { return kubelet.Range{Max: time.Duration(seconds) * time.Second} }
	cfg := drive.Config{
		Settings: events.DefaultSettings(),
		World: world.Config{
			Seed: seed, UserChance: 0.02,
			UsersOff: []users.Deed{
				users.RelabelPod, users.RestoreLabels, users.OrphanPod,
				users.PauseJob, users.LimitJob, users.HurryJob, users.ReplaceJob, users.ReindexPod, users.MeddleJob,
			},
			Kubelet: kubelet.Config{
				Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Stop: upTo(25), Confirm: upTo(2), FailRate: 0.2,
			},
		},
		Faults: apiserver.Rates{
			apiserver.TimeoutBefore: 0.02, apiserver.TimeoutAfter: 0.02, apiserver.TimeoutLate: 0.02,
			apiserver.ServerError: 0.02, apiserver.QuotaExceeded: 0.02, apiserver.TouchedByAnother: 0.04,
		},
		Cut: 0.004,
	}
	for _, c := range change {
		c(&cfg)
	}
	d, err := drive.New(cfg, jobs(seed)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Steps(1000); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if err := d.Settle(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return d
}

// jobs are the Jobs of a seed.
func jobs(seed uint64) []*batchv1.Job {
	rng := world.Rand(seed, 10)
	var out []*batchv1.Job
	for i := range 1 + rng.IntN(3) {
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("job-%d", i)},
			Spec: batchv1.JobSpec{
				ManagedBy: new(events.ManagedBy), Parallelism: new(int32(1 + rng.IntN(5))),
				Completions: new(int32(1 + rng.IntN(8))), BackoffLimit: new(int32(rng.IntN(5))),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "sim"}},
				}},
			},
		}
		switch rng.IntN(4) {
		case 0:
			job.Spec.Completions = nil
		case 1:
			job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
		case 2:
			job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
			job.Spec.BackoffLimitPerIndex, job.Spec.BackoffLimit = new(int32(rng.IntN(3))), nil
		}
		out = append(out, job)
	}
	return out
}

// held returns the number of ended pods that hold the finalizer. When a Job is suspended, a pod of an index that waits
// for its replacement may be left.
func held(pods []*corev1.Pod) (n float64) {
	for _, p := range pods {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if ended && slices.Contains(p.Finalizers, events.TrackingFinalizer) {
			n++
		}
	}
	return n
}

// known returns the pods that the log has. A pod may be created without an answer and removed before the watch shows
// it: such a pod cannot be counted.
func known(t *testing.T, log store.Reader) map[types.UID]bool {
	t.Helper()
	pods := map[types.UID]bool{}
	for rec, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch f := rec.Facts.(type) {
		case *events.PodSeen:
			pods[f.UID] = true
		case *events.CommandEnded:
			pods[f.UID] = true
		}
	}
	return pods
}

// stored returns the effects of the controller's writes, by metric.
func stored(writes []apiserver.Write, known map[types.UID]bool) map[string]float64 {
	out := map[string]float64{}
	for _, w := range writes {
		if w.Actor != "jobledger" {
			continue
		}
		if w.Kind == apiserver.Pods && w.Before == nil && known[w.UID] {
			out["job_pods_creation_total succeeded"]++
		}
		before, ok := w.Before.(*batchv1.Job)
		if !ok || w.Subresource != "status" {
			continue
		}
		after := w.After.(*batchv1.Job)
		if apiserver.JobFinished(after) && !apiserver.JobFinished(before) {
			out["jobs_finished_total"]++
		}
		out["job_pods_finished_total failed"] += float64(after.Status.Failed - before.Status.Failed)
		done := float64(after.Status.Succeeded - before.Status.Succeeded)
		if after.Spec.CompletionMode != nil && *after.Spec.CompletionMode == batchv1.IndexedCompletion {
			was := indexset.Parse(before.Status.CompletedIndexes, *after.Spec.Completions) // within range
			is := indexset.Parse(after.Status.CompletedIndexes, *after.Spec.Completions)
			done = float64(is.Len() - was.Len())
			out["job_finished_indexes_total succeeded"] += done
		}
		out["job_pods_finished_total succeeded"] += done
		if b, a := before.Status.FailedIndexes, after.Status.FailedIndexes; a != nil {
			is := indexset.Parse(*a, *after.Spec.Completions)
			if b != nil {
				was := indexset.Parse(*b, *after.Spec.Completions)
				out["job_finished_indexes_total failed"] -= float64(was.Len())
			}
			out["job_finished_indexes_total failed"] += float64(is.Len())
		}
	}
	return out
}

// sums returns the counters, with success and failure apart. A histogram is the number of its observations.
func sums(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), metrics.Namespace+"_")
		for _, metric := range family.GetMetric() {
			key := name
			for _, l := range metric.GetLabel() {
				switch {
				case name == "jobs_finished_total":
				case l.GetName() == "result" && name == "job_pods_finished_total", l.GetName() == "status", l.GetName() == "event":
					key += " " + l.GetValue()
				}
			}
			out[key] += metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return out
}

package world

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/invariants"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
)

// seeds returns the seeds to run: JOBLEDGER_SEED alone, or the first JOBLEDGER_SEEDS ones.
func seeds(t *testing.T) (first, last uint64) {
	t.Helper()
	number := func(name string) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return 0
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	if one := number("JOBLEDGER_SEED"); one != 0 {
		return one, one
	}
	if many := number("JOBLEDGER_SEEDS"); many != 0 {
		return 1, many
	}
	return 1, 150
}

func upTo(s int) kubelet.Range { return kubelet.Range{Max: time.Duration(s) * time.Second} }

// outcome is the result of one run.
type outcome struct {
	err      error
	finished int
	created  int // number of Jobs, including recreated ones
	history  string
}

// run lets a reference controller work in the world of a seed until nothing more happens.
func run(seed uint64, b bug, faulty bool) (out outcome) {
	w := New(Config{
		Seed: seed, UserChance: 0.04, NodeLossChance: 0.002,
		Kubelet: kubelet.Config{Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Stop: upTo(25), Confirm: upTo(2), FailRate: 0.25, CleanStop: 0.2},
		UsersOff: []users.Deed{ // the reference controller neither adopts nor suspends nor scales down, and reads no spec twice
			users.OrphanPod, users.SuspendJob, users.ScaleJob, users.ResizeJob, users.PauseJob, users.LimitJob, users.HurryJob, users.ReplaceJob,
			users.ReindexPod, users.MeddleJob,
		},
	})
	rng := Rand(seed, 0)
	client := w.Server.Client("reference")
	if faulty {
		client.Faults = apiserver.SeededFaults(Rand(seed, 1), apiserver.Rates{
			apiserver.TimeoutBefore: 0.02, apiserver.TimeoutAfter: 0.03, apiserver.TooManyRequests: 0.02, apiserver.ServerError: 0.02,
			apiserver.ServerErrorAfter: 0.02, apiserver.Unavailable: 0.01, apiserver.ConnectionRefused: 0.01,
			apiserver.QuotaExceeded: 0.03, apiserver.WebhookDenied: 0.01, apiserver.TouchedByAnother: 0.05,
		}, 5*time.Second)
	}
	disturbed := true
	checker := invariants.New(invariants.Config{Server: w.Server, Actor: "reference"})
	check := func() bool {
		if out.err == nil {
			out.err = checker.Check()
		}
		return out.err == nil
	}
	r := &reference{client: client, server: w.Server, bug: b, pause: func() {
		for disturbed && rng.IntN(3) == 0 {
			w.Step()
			check()
		}
	}}
	for i := range 3 {
		if _, err := w.Users.Create(demo(fmt.Sprintf("demo-%d", i), i)); err != nil {
			out.err = err
			return out
		}
	}
	for n := 0; n < 400 && check(); n++ {
		if w.Step() == "" && n > 100 {
			break
		}
		if rng.IntN(2) == 0 {
			r.syncAll()
		}
	}
	disturbed, client.Faults = false, nil
	for n, last := 0, uint64(0); n < 3000 && check() && (!w.Quiet() || last != w.Server.Version()); n++ {
		last = w.Server.Version()
		r.syncAll()
		w.Settle()
		w.Tick()
	}
	if out.err == nil {
		out.err = checker.Settled()
	}
	for _, x := range w.Server.Writes(0) {
		out.history += fmt.Sprintln(x.Version, x.Time.Unix(), x.Actor, x.Verb, x.Subresource, x.Kind, x.Key, x.UID)
		if x.Kind == apiserver.Jobs && x.Before == nil {
			out.created++
		}
		if j, ok := x.After.(*batchv1.Job); ok && apiserver.JobFinished(j) && !apiserver.JobFinished(x.Before.(*batchv1.Job)) {
			out.finished++
		}
	}
	return out
}

// demo makes one of a few kinds of Jobs.
func demo(name string, kind int) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: batchv1.JobSpec{
		ManagedBy: new(events.ManagedBy), Completions: new(int32(4)), Parallelism: new(int32(2)), BackoffLimit: new(int32(1 + kind)),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}}},
	}}
	if kind > 0 {
		job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	}
	if kind > 1 {
		job.Spec.Template.Annotations = map[string]string{kubelet.AnnotationFailIndexes: "1"}
	}
	return job
}

// TestARightControllerPasses: a right controller raises no alarm in any world, with and without faults.
func TestARightControllerPasses(t *testing.T) {
	finished, created := 0, 0
	first, last := seeds(t)
	for seed := first; seed <= last; seed++ {
		out := run(seed, noBug, seed%3 != 0)
		finished += out.finished
		created += out.created
		if out.err != nil {
			t.Errorf("seed %d: %v\nrepeat: JOBLEDGER_SEED=%d go test ./internal/dev/sim/world -run TestARightControllerPasses", seed, out.err, seed)
		}
	}
	if first != last && finished < created/3 {
		t.Errorf("%d of %d Jobs finished: the worlds are too hostile to show anything", finished, created)
	}
	t.Logf("%d of %d Jobs finished", finished, created)
}

// TestWrongControllersAreCaught: within 40 seeds, each bug breaks the promise that it is expected to break.
func TestWrongControllersAreCaught(t *testing.T) {
	for b, rule := range map[bug]string{
		dropsEarly:     "J-0", // about an index, a pod counted twice, or surplus
		forgets:        "J-085",
		countsTwice:    "J-085",
		finishesEarly:  "J-163",
		createsBlindly: "J-0", // about the number of pods, or an index
		movesEarly:     "J-085",
		touchesDone:    "J-008",
		losesIndexes:   "J-039",
		leavesOrphans:  "J-100",
	} {
		t.Run(string(b), func(t *testing.T) {
			for seed := uint64(1); seed <= 40; seed++ {
				out := run(seed, b, true)
				if out.err == nil {
					continue
				}
				if !errors.As(out.err, new(*invariants.Violation)) || !strings.Contains(out.err.Error(), rule) {
					t.Errorf("seed %d: got %v, want a violation of %s", seed, out.err, rule)
				}
				if seed > 1 {
					t.Logf("found by seed %d", seed)
				}
				return
			}
			t.Error("40 seeds found nothing")
		})
	}
}

func TestASeedRepeatsExactly(t *testing.T) {
	one, two, other := run(5, noBug, true), run(5, noBug, true), run(6, noBug, true)
	if one.history != two.history {
		t.Error("one seed gave two histories")
	}
	if one.history == other.history {
		t.Error("two seeds gave one history")
	}
}

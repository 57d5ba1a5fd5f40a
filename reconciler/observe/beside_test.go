package observe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
)

// TestOthersAreObservedBesideOurs shows a history of another controller's Jobs to a controller that runs the delegated
// Jobs and observes the others. In most seeds this controller is killed and started again all the time. It records
// every Job, asks for no command and finds no difference, and its log replays. In every third seed the Jobs name a
// controller with unknown rules, and the history stops half way: the Jobs are recorded, and not judged.
func TestOthersAreObservedBesideOurs(t *testing.T) {
	jobsSeen := 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			jobs := jobsOf(seed)
			for _, j := range jobs {
				j.Spec.ManagedBy = nil
			}
			shown := worked(t, seed, jobs, func(c *drive.Config) { c.Settings.Mode = events.ModeAll })
			if seed%3 == 0 {
				shown = elsewhere(shown[:len(shown)/2])
			}
			o := startObserver(t, besideOurs())
			o.restarts = []float64{0, 0.01, 0.05}[seed/3%3]
			o.show(shown, rand.New(rand.NewPCG(seed, 2)))
			if found := o.found(); len(found) > 0 {
				t.Errorf("it would have decided otherwise:\n%s\nlast records:\n%s", strings.Join(found, "\n"), o.records(60))
			}
			jobsSeen += o.recorded(jobs)
		})
	}
	if jobsSeen < 60 {
		t.Errorf("only %d Jobs were recorded", jobsSeen)
	}
}

// TestDifferencesAreFoundBesideOurs: a Job without pods is found if kube-controller-manager should run it. A Job that
// names another controller is not judged.
func TestDifferencesAreFoundBesideOurs(t *testing.T) {
	theirs, foreign := job("theirs", func(*batchv1.JobSpec) {}), job("foreign", func(*batchv1.JobSpec) {})
	theirs.Spec.ManagedBy, foreign.Spec.ManagedBy = nil, new("example.com/other")
	o := startObserver(t, besideOurs())
	o.show(worked(t, 3, []*batchv1.Job{theirs, foreign}, func(c *drive.Config) { c.World.UserChance = 0 }), rand.New(rand.NewPCG(1, 1)))
	found := o.found()
	of := func(line string) bool { return strings.Contains(line, "job/00000002-") } // the Job that was created first
	if len(found) == 0 || !strings.Contains(found[0], "MorePodsWanted") || slices.ContainsFunc(found, func(l string) bool { return !of(l) }) {
		t.Errorf("found %q, and the records are\n%s", found, o.records(40))
	}
	if n := o.recorded([]*batchv1.Job{theirs, foreign}); n != 2 {
		t.Errorf("%d of 2 Jobs were recorded", n)
	}
}

func besideOurs() events.Settings {
	settings := events.DefaultSettings()
	settings.ObserveOthers = true
	return settings
}

// elsewhere returns the same history, with Jobs that name another controller.
func elsewhere(all []event) []event {
	var out []event
	for _, e := range all {
		if j, ok := e.Object.(*batchv1.Job); ok {
			j = j.DeepCopy()
			j.Spec.ManagedBy = new("example.com/other")
			e.Object = j
		}
		out = append(out, e)
	}
	return out
}

// recorded returns how many of the Jobs the log has from their creation on.
func (o *observer) recorded(jobs []*batchv1.Job) int {
	o.t.Helper()
	added := map[string]bool{}
	for rec, err := range o.log.Read(o.t.Context(), 0) {
		if err != nil {
			o.t.Fatal(err)
		}
		if rec.Kind == events.KindJobAdded {
			added[rec.Evidence.Name] = true
		}
	}
	n := 0
	for _, j := range jobs {
		if added[j.Name] {
			n++
		}
	}
	return n
}

package integration

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestAOnePodJobCostsThreeWritesAndFourCommits: for a Job that never has to wait. The controller may store observations
// every 100 ms, and publish progress after a second, so a Job with a slow pod costs more; the log shows how long it
// took. The test does not run beside other tests. On a busy machine it runs more Jobs, so that at least one has no
// wait.
func TestAOnePodJobCostsThreeWritesAndFourCommits(t *testing.T) {
	w := newWorld(t)
	c := w.run("")
	want := map[string]int{"create pods": 1, "update jobs/status": 1, "patch pods": 1}
	quick := 0
	for i := 0; i < 6 || quick == 0 && i < 60; i++ {
		name := fmt.Sprintf("demo-%d", i)
		before := w.settled(c)
		w.create(newJob(name))
		w.ends(name, result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1})
		after := w.settled(c)
		took := w.tookToEnd(c, name)
		commits := after.commits - before.commits
		writes := w.written(func(x controlplane.Write) bool { return strings.HasPrefix(x.Name, name) })
		t.Logf("%s: nothing was left to do %s after the first decision; %d commits, writes %v", name, took, commits, writes)
		if took < 900*time.Millisecond && !maps.Equal(writes, want) {
			t.Errorf("%s cost the writes %v, want %v", name, writes, want)
		}
		if limit := 4 + uint64(took/(100*time.Millisecond)); commits > limit {
			t.Errorf("%s cost %d commits, want at most %d", name, commits, limit)
		}
		if commits <= 4 {
			quick++
		}
	}
	if quick == 0 {
		t.Error("no Job was quick enough to show what one that waits for nothing costs: run this on a quieter machine")
	}
}

// settled waits until the log was not written for half a second, and returns its state.
func (w *world) settled(c *controller.Controller) bolt {
	w.t.Helper()
	now, since := boltOf(w.t, c.Log()), time.Now()
	w.eventually("the log comes to rest", func() (bool, error) {
		if next := boltOf(w.t, c.Log()); next != now {
			now, since = next, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond, nil
	})
	return now
}

// tookToEnd returns the time in the log from the first decision for the Job until nothing was left to do.
func (w *world) tookToEnd(c *controller.Controller, name string) time.Duration {
	w.t.Helper()
	records, err := c.Records(w.t.Context(), "job/"+name, "-n", w.namespace)
	if err != nil {
		w.t.Fatal(err)
	}
	var began time.Time
	for _, r := range records {
		switch {
		case r.Kind == "Decided" && began.IsZero():
			began = r.Time
		case r.Kind == "JobRetired":
			return r.Time.Sub(began)
		}
	}
	w.t.Fatalf("the log does not say that nothing is left to do for Job %s", name)
	return 0
}

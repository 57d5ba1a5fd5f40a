package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestAGracefulStopLeavesNothingInDoubt: SIGTERM in the middle of a Job. After it the log says that the controller
// stopped, has no further decision, and has the outcome of every command. The next start goes on from there.
func TestAGracefulStopLeavesNothingInDoubt(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	c := w.run("")
	const pods = 60
	w.create(newJob("demo", indexed, completions(pods), parallelism(12), runFor("300ms")))
	for _, done := range []int32{6, 18, 30, 42} {
		w.eventually(fmt.Sprintf("%d pods are done", done), func() (bool, error) { return w.job("demo").Status.Succeeded >= done, nil })
		w.stop(c)
		w.stoppedInOrder(c)
		state, err := c.Job(t.Context(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		if len(state.InFlight) != 0 || state.Counts.Creating != 0 {
			t.Errorf("after a stop in good order get shows in flight: %+v, %d being created", state.InFlight, state.Counts.Creating)
		}
		w.start(c)
	}
	w.ends("demo", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: pods, completed: fmt.Sprintf("0-%d", pods-1)})
	if n := len(w.pods("demo")); n != pods {
		t.Errorf("%d pods were made for %d indexes", n, pods)
	}
}

// stoppedInOrder checks in the log how the newest run ended.
func (w *world) stoppedInOrder(c *controller.Controller) {
	w.t.Helper()
	records, err := c.Records(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	flying := map[string]uint64{} // command → record with its decision
	stopped := false
	decided := 0
	for _, r := range records {
		switch r.Kind {
		case "TermStarted", "ControllerStarted":
			stopped = false
		case "ControllerStopped":
			stopped = true
		case "Decided":
			if stopped {
				w.t.Errorf("record %d decides after the controller stopped", r.Sequence)
			}
			commands, err := r.Commands()
			if err != nil {
				w.t.Fatal(err)
			}
			for place, command := range commands {
				if command.Type != "Withdraw" {
					flying[fmt.Sprintf("%d/%d", r.Sequence, place)] = r.Sequence
					decided++
				}
			}
		case "CommandEnded":
			var end struct{ Command, Ending string }
			if err := r.Into(&end); err != nil {
				w.t.Fatal(err)
			}
			if end.Ending == "unknown" {
				w.t.Errorf("record %d: nobody knows how command %s ended", r.Sequence, end.Command)
			}
			delete(flying, end.Command)
		default:
			if stopped {
				w.t.Errorf("record %d, %s, after the controller stopped", r.Sequence, r.Kind)
			}
		}
	}
	if !stopped {
		w.t.Error("the log does not say that the controller stopped")
	}
	if decided == 0 || len(flying) > 0 {
		w.t.Errorf("of %d commands these have not ended: %v", decided, flying)
	}
}

// TestRestarts: changes while no controller ran are found and accounted for, after a kill or a stop, with the log or
// without it.
func TestRestarts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		end  func(*world, *controller.Controller)
	}{
		{"stopped", func(w *world, c *controller.Controller) { w.stop(c) }},
		{"killed", func(w *world, c *controller.Controller) { w.kill(c) }},
		{"killed, and the log is lost", func(w *world, c *controller.Controller) { w.kill(c); w.loseLog(c) }},
		{"killed, and the log's key is lost", func(w *world, c *controller.Controller) { w.kill(c); w.loseKey(c) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.run("")
			w.create(newJob("indexed", indexed, completions(12), parallelism(4), runFor("500ms")))
			w.create(newJob("fails", completions(6), parallelism(3), backoffLimit(0), runFor("8s"), annotate("sim.jobledger.dev/outcome", "fail")))
			w.create(newJob("deleted", parallelism(2), runFor("1h")))
			w.eventually("one is under way, the others have their pods", func() (bool, error) {
				return w.job("indexed").Status.Succeeded > 2 && len(w.pods("fails")) == 3 && w.runs("deleted") == 2, nil
			})
			row.end(w, c)
			w.delete("deleted")
			w.create(newJob("new", completions(3), parallelism(3)))
			w.eventually("the pods end without us", func() (bool, error) { return w.runs("indexed") == 0 && w.runs("fails") == 0, nil })
			w.start(c)
			w.ends("indexed", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 12, completed: "0-11"})
			w.ends("fails", result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 3})
			w.ends("new", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3})
			w.eventually("the pods of the deleted Job are gone", func() (bool, error) { return len(w.pods("deleted")) == 0, nil })
			if n := len(w.pods("indexed")); n != 12 {
				t.Errorf("%d pods were made for 12 indexes", n)
			}
		})
	}
}

func (w *world) kill(c *controller.Controller) {
	w.t.Helper()
	if err := c.Kill(); err != nil {
		w.t.Fatal(err)
	}
}

// loseKey removes the key with which the log hashes secret values, like a restore without the key.
func (w *world) loseKey(c *controller.Controller) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(c.Log(), "KEY")); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) loseLog(c *controller.Controller) {
	w.t.Helper()
	if _, err := c.LoseLog(); err != nil {
		w.t.Fatal(err)
	}
	if err := controller.DropLease(w.t.Context(), w.client, w.namespace); err != nil {
		w.t.Fatal(err)
	}
}

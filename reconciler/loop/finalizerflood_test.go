package loop_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// stuck is pods without an owner that a user makes with our finalizer and deletes. Each stays until the finalizer is
// removed.
type stuck struct {
	*machine
	made, freed int
	results     []loop.Input
}

// turn makes `more` pods, and a turn of the loop. Each command is done at once, and a pod without the finalizer is
// gone.
func (s *stuck) turn(more int) {
	inputs := s.results
	for range more {
		s.made++
		inputs = append(inputs, loop.Input{Observation: s.barePod(fmt.Sprint("stuck-", s.made), "demo", func(f *events.PodSeen) {
			f.Owner, f.Selected, f.Deleted = "", false, s.now.Second()
		})})
	}
	s.machine.turn(inputs...)
	s.results = nil
	tasks, _ := s.loop.Durable(s.log.Head().Sequence)
	for i := range tasks {
		s.version++
		ended := tasks[i].Ended(events.Done)
		ended.Sent, ended.Version, ended.Written = true, s.version, s.now.Second()
		s.results = append(s.results, loop.Input{Result: &events.TaskResult{Stream: tasks[i].Stream, Ended: ended}})
		if d, ok := tasks[i].Command.(*events.DropFinalizer); ok {
			s.freed++
			s.results = append(s.results, loop.Input{Observation: s.podEnds(string(d.Pod), "demo")})
		}
	}
}

// TestPodsThatCannotGoDoNotFillTheLog: deleted pods that carry our finalizer stay while they wait to be recorded. A
// flood of them is recorded at the pace of the budget. When it is over, all of them lose the finalizer.
func TestPodsThatCannotGoDoNotFillTheLog(t *testing.T) {
	t.Parallel()
	const rate, long = 20, 10 * time.Minute
	s := &stuck{machine: newMachine(t)}
	s.floodPace, s.settings.NamespaceBudget = 0, floodBudget
	for _, command := range []string{"start", "synced", "job demo suspend=true"} {
		s.do(command)
	}
	for range long / floodTick {
		s.now = s.now.Add(floodTick)
		s.turn(rate / 10)
	}
	size := int64(0)
	for rec, err := range s.log.Read(t.Context(), 1) {
		s.must(err)
		stored, err := events.AppendRecord(nil, &rec)
		s.must(err)
		size += int64(len(stored))
	}
	t.Logf("%d pods in %s, %d let go: %d bytes", s.made, long, s.freed, size)
	if most := mostFlooded(1, long); size > most {
		t.Errorf("the log has %d bytes, want at most %d", size, most)
	}

	s.machine.turn(loop.Input{Observation: s.podEnds(fmt.Sprint("stuck-", s.made), "demo")}) // a user frees it
	for until := s.now.Add(24 * time.Hour); s.freed < s.made-1 && s.now < until; s.turn(0) {
		if wake := s.loop.Wake(); len(s.results) == 0 && wake > s.now {
			s.now = wake
		}
	}
	if s.freed != s.made-1 {
		t.Errorf("a day later %d of %d pods have lost the finalizer, and one was let go by hand", s.freed, s.made)
	}
	if left := s.loop.World().Subject(events.NamespaceStream("ns")); left != nil && projector.PodOf(left, types.UID("stuck-1")) != nil {
		t.Error("a pod that is gone is still there")
	}
	s.check()
}

package loop_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestFinalizersPassCreatesWhileManyPodsCarryOne: two pods carry their finalizer, and most may at the end of the Job.
func TestFinalizersPassCreatesWhileManyPodsCarryOne(t *testing.T) {
	for _, c := range []struct {
		most, then, write string
		passes            bool
	}{{"0", "wait 2s", "demo/0", false}, {"1", "wait 0s", "demo/1", true}, {"2", "wait 2s", "demo/0", false}} {
		m := newMachine(t)
		for _, step := range []string{
			"start slow-start=2 list-pace=0s held-at-end=" + c.most, "synced", "job demo parallelism=2 completions=6",
			"pod demo#1 phase=Running", "pod demo#2 phase=Running", "pod demo#1 phase=Succeeded", c.then,
		} {
			m.do(step)
		}
		m.loop.Durable(m.log.Head().Sequence)
		m.do("ended " + c.write + " done uid=uid-demo")
		tasks, _ := m.loop.Durable(m.log.Head().Sequence)
		if len(tasks) != 1 {
			t.Fatalf("%s at the end: %d tasks, and one is to remove the finalizer", c.most, len(tasks))
		}
		drop, create := urgencyOf(&tasks[0]), events.PriorityOf(&events.CreatePod{})
		if passes := drop < create; passes != c.passes {
			t.Errorf("%s at the end: priority %d beside %d of a create", c.most, drop, create)
		}
	}
}

func urgencyOf(t *events.Task) events.Priority {
	if t.Priority != 0 {
		return t.Priority
	}
	return events.PriorityOf(t.Command)
}

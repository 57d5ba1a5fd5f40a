package loop_test

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestFinalizersPassCreatesWhileManyPodsCarryOne: two pods carry their finalizer, and `most` of them may do so at the
// end of the Job. Removing a finalizer goes before a create only if two are too many.
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

// TestPodsWhoseTimeHasCome: the first pods of a Job, and the pods of a backoff that is over, go before the bulk of the
// work. A pod that follows one that succeeded is bulk.
func TestPodsWhoseTimeHasCome(t *testing.T) {
	ended := "phase=Failed"
	for _, c := range []struct {
		sentence, job string
		steps         []string
		want          events.Priority
	}{
		{"nothing runs: the first pods", "parallelism=2 completions=6", nil, events.PriorityDue},
		{
			"one runs: the pod in the place of one that succeeded", "parallelism=2 completions=6",
			[]string{"pod demo#1 phase=Running", "pod demo#2 phase=Succeeded"}, events.PriorityBulk,
		},
		{
			"none runs: the pods after those that succeeded", "parallelism=2 completions=6",
			[]string{"pod demo#1 phase=Succeeded", "pod demo#2 phase=Succeeded"}, events.PriorityBulk,
		},
		{
			"one runs: the backoff of a Job is over", "parallelism=2 completions=6",
			[]string{"pod demo#1 phase=Running", "pod demo#2 " + ended, "wait 15s"}, events.PriorityDue,
		},
		{
			"one runs: the backoff of an index is over", "parallelism=2 completions=6 mode=Indexed perIndex=1",
			[]string{"pod demo#1 index=0 phase=Running", "pod demo#2 index=1 " + ended, "wait 15s"}, events.PriorityDue,
		},
		{
			"one runs: the next index", "parallelism=2 completions=6 mode=Indexed perIndex=1",
			[]string{"pod demo#1 index=0 phase=Running", "pod demo#2 index=1 phase=Succeeded"}, events.PriorityBulk,
		},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			m := newMachine(t)
			for _, step := range []string{"start slow-start=2", "synced", "job demo " + c.job} {
				m.do(step)
			}
			created := creates(m)
			for _, step := range c.steps {
				m.do(step)
				if more := creates(m); len(more) > 0 {
					created = more
				}
			}
			for i := range created {
				if got := urgencyOf(&created[i]); got != c.want {
					t.Errorf("priority %d, want %d", got, c.want)
				}
			}
			if len(created) == 0 {
				t.Error("no pod is made")
			}
		})
	}
}

// creates makes all records durable, and returns the tasks that make pods.
func creates(m *machine) []events.Task {
	tasks, _ := m.loop.Durable(m.log.Head().Sequence)
	return slices.DeleteFunc(tasks, func(t events.Task) bool {
		_, is := t.Command.(*events.CreatePod)
		return !is
	})
}

func urgencyOf(t *events.Task) events.Priority {
	if t.Priority != 0 {
		return t.Priority
	}
	return events.PriorityOf(t.Command)
}

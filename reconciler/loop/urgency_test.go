package loop_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// hurried is a log that notes which batches asked for a commit at once.
type hurried struct {
	store.Log
	soon []bool
}

func (l *hurried) Append(b events.Batch, soon bool) store.Commit {
	l.soon = append(l.soon, soon)
	return l.Log.Append(b, soon)
}

// TestCommandsThatWouldOnlyQueueUpWaitForTheNextCommit has an executor that is busy with many creates of the Job big.
// More creates of big would only wait there, so they ask for no commit at once.
func TestCommandsThatWouldOnlyQueueUpWaitForTheNextCommit(t *testing.T) {
	m := newMachine(t)
	m.settings.SlowStart = 10
	log := &hurried{Log: m.log}
	busy := map[events.Stream]bool{}
	world, err := loop.Recover(t.Context(), log)
	m.must(err)
	m.loop = loop.New(loop.Config{
		Log: log, World: world, Settings: m.settings, Program: "test", Salt: func() events.Salt { return events.Salt{} },
		Busy: func(s events.Stream) bool { return busy[s] },
	})
	m.must(m.loop.Start(m.now))
	m.do("synced")
	for _, step := range []struct {
		name, do string
		busy     []string
		soon     bool
	}{
		{"the first creates of a Job are asked for", "job big completions=9 parallelism=3", nil, true},
		{"a record without a command is not, whatever the executor has to do", "pod big#1", nil, false},
		{"a create of a Job of which there is plenty waits", "pod big#1 phase=Succeeded", []string{"big"}, false},
		{"while it waits, another Job's create is asked for, and what waits goes with it", "job small", []string{"big"}, true},
		{"nothing waits any more", "pod big#2", nil, false},
		{"another create waits", "pod big#2 phase=Succeeded", []string{"big"}, false},
		{"the executor runs short: what waits is asked for with the next record", "pod big#3", nil, true},
		{"a status write that finishes a Job is asked for, however much of it there is", "pod small#1 phase=Succeeded", []string{"big", "small"}, true},
	} {
		busy = map[events.Stream]bool{}
		for _, name := range step.busy {
			busy[events.JobStream(types.UID("uid-"+name))] = true
		}
		log.soon = nil
		m.now = m.now.Add(time.Millisecond)
		m.do(step.do)
		if len(log.soon) == 0 || slices.Contains(log.soon, true) != step.soon {
			t.Errorf("%s: asked for %v, want %v", step.name, log.soon, step.soon)
		}
		m.loop.Durable(0) // nothing becomes durable by itself
	}
}

package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/admission"
	"github.com/jobledger/jobledger/reconciler/due"
)

// rewound resets the loop after the cluster was restored to an earlier state: it clears all waits, and drops commands
// that were decided before and whose record is not durable yet, so that they are never sent.
func (l *Loop) rewound(b *batch) {
	l.epoch = l.next - 1
	l.wakes, l.progress, l.retries, l.resuming = newWakes(), due.NewProgress(), l.retries.Again(b.time), map[events.Stream]bool{}
	l.waiting = nil
	l.recordCounts(b, false)
	l.gate.ForgetAll()
	l.words = admission.NewWords()
	l.snapshots.Outdate()
	if l.watcher != nil {
		l.watcher.Reset()
	}
	b.touched, b.hints = nil, nil
	clear(b.inputs)
}

// outdated reports whether the command of a result was decided before the cluster was last restored to an earlier
// state. The state no longer knows this command, and the result is about objects that the restored cluster may not
// have.
func (l *Loop) outdated(r *events.TaskResult) bool { return r.Ended.Command.Decided < l.epoch }

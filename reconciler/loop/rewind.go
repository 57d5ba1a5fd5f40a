package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/admission"
	"github.com/jobledger/jobledger/reconciler/due"
)

// rewound resets the loop after the cluster was restored to an earlier state: it clears all waits, and commands decided
// before are not sent.
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

// outdated reports whether a command was decided before the newest rewind of the cluster. The world no longer knows
// this command, and its result is about objects that the restored cluster does not have.
func (l *Loop) outdated(r *events.TaskResult) bool { return r.Ended.Command.Decided < l.epoch }

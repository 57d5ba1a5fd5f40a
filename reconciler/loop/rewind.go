package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/admission"
	"github.com/jobledger/jobledger/reconciler/due"
)

// rewound follows the world after a reset for a rewound cluster: it clears all waits, and sends no earlier command.
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

// outdated reports whether a command was decided before the newest rewind. The world has forgotten it, and its result
// is of a past that the cluster does not have.
func (l *Loop) outdated(r *events.TaskResult) bool { return r.Ended.Command.Decided < l.epoch }

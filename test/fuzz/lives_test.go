package fuzz

import (
	"context"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// lives are the processes of the controller, one after the other.
type lives struct {
	*controller.Controller
	fail    context.CancelCauseFunc
	unwatch func()
}

// watch ends the run when the process ends by itself.
func (l *lives) watch(ctx context.Context) {
	life, done := l.While(ctx)
	stop := context.AfterFunc(life, func() { l.fail(context.Cause(life)) })
	l.unwatch = func() {
		stop()
		done()
	}
}

// killed kills the running process and starts another one on its log, which takes over the commands in flight.
func (l *lives) killed(ctx context.Context) {
	l.unwatch()
	if err := l.Kill(); err != nil {
		l.fail(err)
	}
	ready, done := patience.Context(ctx)
	defer done()
	if err := l.Start(ready); err != nil {
		l.fail(err)
	}
	l.watch(ctx)
}

package controller

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// noExecutor is the executor of observe mode: it carries out no commands.
type noExecutor struct{}

// Submit implements loop.Executor: it panics if it gets a command to carry out.
func (noExecutor) Submit(tasks ...events.Task) {
	if len(tasks) > 0 {
		panic("a command is to be carried out in observe mode") // a bug: the loop decides nothing in this mode
	}
}

// TakeBack implements loop.Executor; it does nothing, because there are no commands to withdraw.
func (noExecutor) TakeBack(...events.Task) {}

// Hasten implements loop.Executor; it does nothing, because there are no commands.
func (noExecutor) Hasten(...events.Task) {}

// Stop implements loop.Executor; it does nothing, because nothing runs.
func (noExecutor) Stop(context.Context) {}

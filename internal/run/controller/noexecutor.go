package controller

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// noExecutor is the executor of observe mode: it carries out no commands.
type noExecutor struct{}

// Submit implements loop.Executor. It panics if it gets a task.
func (noExecutor) Submit(tasks ...events.Task) {
	if len(tasks) > 0 {
		panic("a command is to be carried out in observe mode") // the loop decides nothing in observe mode
	}
}

// TakeBack implements loop.Executor; it does nothing.
func (noExecutor) TakeBack(...events.Task) {}

// Hasten implements loop.Executor; it does nothing.
func (noExecutor) Hasten(...events.Task) {}

// Stop implements loop.Executor; it does nothing.
func (noExecutor) Stop(context.Context) {}

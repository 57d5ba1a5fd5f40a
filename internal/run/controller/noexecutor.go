package controller

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// noExecutor executes no commands, in observe mode.
type noExecutor struct{}

// Submit is described by loop.Executor.
func (noExecutor) Submit(tasks ...events.Task) {
	if len(tasks) > 0 {
		panic("a command is to be carried out in observe mode") // the loop decides nothing in observe mode
	}
}

// TakeBack is described by loop.Executor.
func (noExecutor) TakeBack(...events.Task) {}

// Hasten is described by loop.Executor.
func (noExecutor) Hasten(...events.Task) {}

// Stop is described by loop.Executor.
func (noExecutor) Stop(context.Context) {}

package executor

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
)

// Halt makes all tasks end as withdrawn that have not begun, or that are submitted later. It does not wait for calls in
// flight.
func (e *Executor) Halt() {
	e.mu.Lock()
	e.stopped = true
	names := slices.SortedFunc(maps.Keys(e.waiting), byName)
	for _, name := range names {
		e.withdrawLocked(name)
	}
	e.settleLocked()
	e.mu.Unlock()
	e.ring()
}

func byName(a, b events.CommandID) int {
	return cmp.Or(cmp.Compare(a.Decided, b.Decided), cmp.Compare(a.Place, b.Place))
}

// Stop calls Halt and waits until every task has ended. If ctx ends first, Stop cancels the calls of Run, and their
// outcome is unknown.
func (e *Executor) Stop(ctx context.Context) {
	e.Halt()
	select {
	case <-e.idle:
	case <-ctx.Done():
		e.cancelAll()
	}
}

func (e *Executor) cancelAll() {
	e.mu.Lock()
	cancel := e.cancel
	e.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// Idle reports whether every submitted task has ended.
func (e *Executor) Idle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.idleLocked()
}

func (e *Executor) idleLocked() bool { return len(e.waiting)+len(e.running) == 0 }

func (e *Executor) settleLocked() {
	if !e.stopped || !e.idleLocked() {
		return
	}
	select {
	case <-e.idle:
	default:
		close(e.idle)
	}
}

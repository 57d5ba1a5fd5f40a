package executor

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
)

// Halt begins a stop: tasks that have not begun are given back, and so are those that come later.
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

// Stop gives back what has not begun and waits until every task has ended, so that none is left in doubt. When ctx ends
// before that, the calls that Run has in flight are cancelled: they end unknown.
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

// Idle reports whether every task that was submitted has ended.
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

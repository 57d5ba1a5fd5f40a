package job

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// expired reports whether the finished Job must be deleted now: its TTL has ended, and no read, write or deletion of
// its object is in flight. If the TTL ends later, expired sets the time of the next evaluation.
func (p *plan) expired(e *projector.Expiry) bool {
	return e.From != 0 && !e.Busy && !p.WakeAt(e.From)
}

// readExpired reads the Job after a failed deletion: at once after a first conflict, otherwise after a backoff.
func (p *plan) readExpired() {
	e := p.expiring.Expiry()
	if !e.Look || !p.expired(&e) {
		return
	}
	first := e.Writing.Class == events.RefusedConflict && e.Writing.Count == 1
	if first || !p.WakeAt(e.Writing.Until) {
		p.Step(reconciler.NotDeleted, "the Job has changed since it was to be deleted: read it first", &events.ReadJob{})
	}
}

// deleteExpired deletes the Job only in the version on which the decision was made. So a TTL that a user raises just in
// time is respected (T-051).
func (p *plan) deleteExpired() {
	e := p.expiring.Expiry()
	if e.Look || !p.expired(&e) || p.WakeAt(e.Writing.Until) {
		return
	}
	p.Step(reconciler.TTLExpired, fmt.Sprintf("the Job finished %d s ago or earlier: delete it", e.TTL),
		&events.DeleteJob{Job: e.Job, Version: e.Version, Expired: e.At})
}

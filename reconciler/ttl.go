package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// expired reports whether the finished Job is to be deleted now. If it is to be later, the decision wakes then.
func (p *plan) expired() bool {
	return p.expiry.From != 0 && !p.expiry.Busy && !p.wake(p.expiry.From)
}

// readExpired reads the Job again, before it is deleted after all: at once after a first conflict, and after a backoff from then on.
func (p *plan) readExpired() {
	e := &p.expiry
	if !e.Look || !p.expired() {
		return
	}
	first := e.Writing.Class == events.RefusedConflict && e.Writing.Count == 1
	if first || !p.wake(e.Writing.Until) {
		p.step(NotDeleted, "the Job has changed since it was to be deleted: read it first", &events.ReadJob{})
	}
}

// deleteExpired deletes the version that was judged, so that a TTL which was raised in time is never overtaken (T-051).
func (p *plan) deleteExpired() {
	e := &p.expiry
	if e.Look || !p.expired() || p.wake(e.Writing.Until) {
		return
	}
	p.step(TTLExpired, fmt.Sprintf("the Job finished %d s ago or earlier: delete it", e.TTL),
		&events.DeleteJob{Job: e.Job, Version: e.Version, Expired: e.At})
}

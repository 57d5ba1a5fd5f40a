package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// expired reports whether the retired Job is to be deleted now. If it is to be later, the decision wakes then.
func (p *plan) expired() bool {
	at := p.retired.Expires()
	return at != 0 && !p.retired.Busy() && !p.wake(at)
}

// readExpired reads the Job again, before it is deleted after all: at once after a first conflict, and after a backoff from then on.
func (p *plan) readExpired() {
	r := p.retired
	if !r.Look() || !p.expired() {
		return
	}
	first := r.Writing().Class == events.RefusedConflict && r.Writing().Count == 1
	if first || !p.wake(r.Writing().Until) {
		p.step(NotDeleted, "the Job has changed since it was to be deleted: read it first", &events.ReadJob{})
	}
}

// deleteExpired deletes the version that was judged, so that a TTL which was raised in time is never overtaken (T-051).
func (p *plan) deleteExpired() {
	r := p.retired
	if r.Look() || !p.expired() || p.wake(r.Writing().Until) {
		return
	}
	p.step(TTLExpired, fmt.Sprintf("the Job finished %d s ago or earlier: delete it", r.TTL),
		&events.DeleteJob{Job: r.Ref.UID, Version: r.Version})
}

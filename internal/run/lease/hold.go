package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errNotHeld is why a context of Within has ended.
var errNotHeld = errors.New("the Lease was not renewed in time: nothing is sent until it is")

// hold is until when the Lease is held for certain, and what is to end then. The zero hold is not held.
type hold struct {
	mu    sync.Mutex
	until time.Time
	lapse *time.Timer // nil until it is held for the first time
	work  map[*context.CancelCauseFunc]struct{}
}

// renew holds until that time, which may have passed.
func (h *hold) renew(until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = until
	if h.lapse == nil {
		h.lapse = time.AfterFunc(time.Until(until), h.lapsed)
	} else {
		h.lapse.Reset(time.Until(until))
	}
}

// end holds no longer.
func (h *hold) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = time.Time{}
	h.endWorkLocked()
}

func (h *hold) holds() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holdsLocked()
}

func (h *hold) holdsLocked() bool { return time.Now().Before(h.until) }

func (h *hold) lapsed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.holdsLocked() { // else it was renewed just now
		h.endWorkLocked()
	}
}

func (h *hold) endWorkLocked() {
	for cancel := range h.work {
		(*cancel)(errNotHeld)
	}
	clear(h.work)
}

// within is a context that ends with the hold, at the latest.
func (h *hold) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.holdsLocked() {
		cancel(errNotHeld)
	}
	if h.work == nil {
		h.work = map[*context.CancelCauseFunc]struct{}{}
	}
	h.work[&cancel] = struct{}{}
	return ctx, func() {
		h.mu.Lock()
		delete(h.work, &cancel)
		h.mu.Unlock()
		cancel(nil)
	}
}

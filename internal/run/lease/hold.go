package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errNotHeld is why a context of Within has ended.
var errNotHeld = errors.New("the Lease was not renewed in time: nothing is sent until it is")

// hold is until when the Lease is held for certain, and what is to end then. The zero hold is not held. It ends by two
// clocks: that of Go stands still while the machine is suspended, and others wait by clocks that go on.
type hold struct {
	boot  func() time.Duration // see Config.Boot
	mu    sync.Mutex
	until instant     // zero while it is not held
	lapse *time.Timer // nil until it is held for the first time
	work  map[*context.CancelCauseFunc]struct{}
}

// instant is one moment by both clocks.
type instant struct {
	at   time.Time
	boot time.Duration
}

// now is read before a request whose success renews the hold.
func (h *hold) now() instant { return instant{at: time.Now(), boot: h.boot()} }

// renew holds for so long after that moment, which may be over.
func (h *hold) renew(began instant, period time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = instant{at: began.at.Add(period), boot: began.boot + period}
	if left := time.Until(h.until.at); h.lapse == nil {
		h.lapse = time.AfterFunc(left, h.lapsed)
	} else {
		h.lapse.Reset(left)
	}
}

// end holds no longer.
func (h *hold) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = instant{}
	h.endWorkLocked()
}

func (h *hold) holds() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holdsLocked()
}

func (h *hold) holdsLocked() bool {
	return time.Now().Before(h.until.at) && h.boot() < h.until.boot
}

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

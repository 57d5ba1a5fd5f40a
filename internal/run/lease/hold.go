package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errNotHeld is the cause with which contexts of Within end.
var errNotHeld = errors.New("the Lease was not renewed in time: nothing is sent until it is")

// hold knows until when the Lease is certainly held, and ends contexts at that time. The zero hold is not held. It uses
// two clocks: Go's clock stops while the machine is suspended, and the time since boot continues, like the clocks of
// other machines.
type hold struct {
	boot  func() time.Duration // see Config.Boot
	mu    sync.Mutex
	until instant     // zero while the Lease is not held
	lapse *time.Timer // ends contexts when the time is over; nil until first held
	work  map[*context.CancelCauseFunc]struct{}
}

// instant is one moment on both clocks.
type instant struct {
	at   time.Time
	boot time.Duration
}

// now returns the current time on both clocks. A caller takes it before it sends a request that renews the Lease.
func (h *hold) now() instant { return instant{at: time.Now(), boot: h.boot()} }

// renew sets the end of the hold to began plus period. began may be in the past.
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

// end ends the hold, and all contexts of within, at once.
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
	if !h.holdsLocked() { // otherwise it was renewed just now
		h.endWorkLocked()
	}
}

func (h *hold) endWorkLocked() {
	for cancel := range h.work {
		(*cancel)(errNotHeld)
	}
	clear(h.work)
}

// within returns a context that ends no later than the hold.
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

package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errNotHeld is the cause with which a context ends when the Lease is no longer certainly held.
var errNotHeld = errors.New("the Lease was not renewed in time: nothing is sent until it is")

// hold knows until when this process certainly holds the Lease, and ends contexts at that time. The zero hold is not
// held. It uses two clocks: Go's clock stops while the machine is suspended; the time since boot continues, like the
// clocks of other machines.
type hold struct {
	boot  func() time.Duration // returns the time since boot; see Config.Boot
	mu    sync.Mutex
	until instant     // when the Lease is no longer certainly held; zero while it is not held
	lapse *time.Timer // ends contexts at until; nil until the Lease is first held
	work  map[*context.CancelCauseFunc]struct{}
}

// instant is one moment by two clocks: Go's (at), and the time since boot.
type instant struct {
	at   time.Time
	boot time.Duration
}

// now returns the current time by both clocks. The caller takes it before it sends a request that renews the Lease.
func (h *hold) now() instant { return instant{at: time.Now(), boot: h.boot()} }

// renew says that the Lease is held until began plus period. began is when the request that renewed it was sent.
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

// end says that the Lease is not held any more, and ends all contexts of within.
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
	if !h.holdsLocked() { // nothing ends if the Lease was renewed just before the timer fired
		h.endWorkLocked()
	}
}

func (h *hold) endWorkLocked() {
	for cancel := range h.work {
		(*cancel)(errNotHeld)
	}
	clear(h.work)
}

// within returns a context that ends as soon as the Lease is no longer certainly held.
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

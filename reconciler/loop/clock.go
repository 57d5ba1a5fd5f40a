package loop

import (
	"sync/atomic"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Clock gives the time for records: the wall clock at the start, and monotonic time from then on. It jumps only when
// Follow is called (design §4). It is safe for concurrent use.
type Clock struct {
	start  time.Time
	offset atomic.Int64 // nanoseconds by which Follow has moved the clock
}

// NewClock returns a clock that starts at the wall clock's time. If the wall clock is more than 5 s ahead of server,
// the API server's time, it starts at server. A zero server means unknown.
func NewClock(server time.Time) *Clock {
	c := &Clock{start: time.Now()}
	if !server.IsZero() && c.start.Sub(server) > clockTolerance {
		c.offset.Store(int64(server.Sub(c.start)))
	}
	return c
}

// Now returns the current time.
func (c *Clock) Now() events.Time {
	return events.At(c.start.Add(time.Since(c.start) + time.Duration(c.offset.Load())))
}

// Stepped reports whether the wall clock was set: it differs from this clock by more than 5 s. It returns the
// difference.
func (c *Clock) Stepped() (events.ClockStepped, bool) {
	wall := events.At(time.Now().Round(0)) // Round strips the monotonic reading
	step := wall.Sub(c.Now())
	if step <= clockTolerance && step >= -clockTolerance {
		return events.ClockStepped{}, false
	}
	return events.ClockStepped{Step: step}, true
}

// Follow moves the clock by a step that Stepped has found.
func (c *Clock) Follow(step events.ClockStepped) { c.offset.Add(int64(step.Step)) }

// Until returns the time from now to t; 0 if t has passed.
func (c *Clock) Until(t events.Time) time.Duration { return max(t.Sub(c.Now()), 0) }

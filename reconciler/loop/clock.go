package loop

import (
	"sync/atomic"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Clock is the time that the log is written by: the wall clock at the start, and monotonic time from then on. It steps
// only when it is told to (design §4). It may be read from any goroutine.
type Clock struct {
	start  time.Time
	offset atomic.Int64 // nanoseconds
}

// NewClock starts a clock at the wall clock's time; at the API server's when the wall clock is ahead of it by more than
// 5 s. A zero server time means that it is not known.
func NewClock(server time.Time) *Clock {
	c := &Clock{start: time.Now()}
	if !server.IsZero() && c.start.Sub(server) > clockTolerance {
		c.offset.Store(int64(server.Sub(c.start)))
	}
	return c
}

// Now is the time.
func (c *Clock) Now() events.Time {
	return events.At(c.start.Add(time.Since(c.start) + time.Duration(c.offset.Load())))
}

// Stepped reports by how much the wall clock is off, when that is more than 5 s: it has been set.
func (c *Clock) Stepped() (events.ClockStepped, bool) {
	wall := events.At(time.Now().Round(0)) // Round strips the monotonic reading
	step := wall.Sub(c.Now())
	if step <= clockTolerance && step >= -clockTolerance {
		return events.ClockStepped{}, false
	}
	return events.ClockStepped{Step: step}, true
}

// Follow takes the step over.
func (c *Clock) Follow(step events.ClockStepped) { c.offset.Add(int64(step.Step)) }

// Until is how long it is from now to t; 0 when t has come.
func (c *Clock) Until(t events.Time) time.Duration { return max(t.Sub(c.Now()), 0) }

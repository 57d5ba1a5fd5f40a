package executor

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// How many calls may be in flight adapts to what the API server bears, as TCP adapts to a network. There is no fixed rate.
//
//	     size
//	max   ┤          ╭────            a call that ends well while no slot is free: +1 each below the threshold,
//	      │     ╭────╯                +1 per round of calls above it
//	      │    ╱      │ ╭──╯
//	      │   ╱       ╰─╯             429: half, once per round, and nothing is sent for as long as the server asks
//	8     ┤  ╱                        most calls of a round slow or without an answer: half
//	      └───────────────▶
//
// A single slow call says nothing of the server: a webhook in one namespace may be the reason.
const (
	firstConcurrency = 8
	pauseUnasked     = time.Second // after a 429 that does not say for how long
)

// signal is what the end of a call says about the server.
type signal uint8

const (
	fast       signal = iota
	slow              // late, or no answer at all
	overloaded        // the server asked for patience
)

// limiter says how many calls may be in flight. It is not safe for concurrent use.
type limiter struct {
	max       float64
	size      float64
	threshold float64
	paused    events.Time // nothing is sent before
	cut       events.Time // of the last decrease: calls that started before it say nothing new

	round, late int // calls that ended in this round, and those of them that were slow
}

func newLimiter(limit int) limiter {
	return limiter{max: float64(limit), size: float64(min(firstConcurrency, limit)), threshold: float64(limit)}
}

// slots is how many calls may be in flight.
func (l *limiter) slots() int { return max(1, int(l.size)) }

// share is how many of them one Job may have, so that a newcomer need not wait for another Job's slow calls.
func (l *limiter) share() int {
	n := l.slots()
	return n - n/4
}

// ended takes notice of a call that ended now. full says that no slot was free; wait is the server's wish.
func (l *limiter) ended(started, now events.Time, s signal, full bool, wait time.Duration) {
	if s == overloaded {
		if wait == 0 {
			wait = pauseUnasked
		}
		l.paused = max(l.paused, now.Add(wait))
		if started >= l.cut {
			l.decrease(now)
		}
		return
	}
	if started < l.cut {
		return
	}
	l.round++
	if s == slow {
		l.late++
	} else if full {
		l.increase()
	}
	if l.round >= l.slots() {
		if 2*l.late > l.round {
			l.decrease(now)
		}
		l.round, l.late = 0, 0
	}
}

func (l *limiter) increase() {
	step := 1.0
	if l.size >= l.threshold {
		step = 1 / l.size
	}
	l.size = min(l.max, l.size+step)
}

func (l *limiter) decrease(now events.Time) {
	l.size = max(1, l.size/2)
	l.threshold = l.size
	l.cut = now
	l.round, l.late = 0, 0
}

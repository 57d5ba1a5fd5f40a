package executor

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// How many calls may be in flight follows how long the API server takes to answer, as TCP Vegas follows a network: what
// is sent beyond what the server works on only waits there, in front of everybody else's calls. There is no fixed rate.
//
//	after each round of as many calls as there are slots, while they were used up:
//
//	    size ← size × smallest latency / typical latency × 2  (× 1 at most)  + 6
//
//	     size
//	max   ┤                ╭───────    answers take no longer than twice the smallest of late: 6 more each round
//	      │           ╭────╯
//	      │      ╭────╯       ╭──      429: half, once per round, and nothing is sent for as long as the server asks;
//	      │  ╭───╯         ╭──╯        from there on it is 1 more each round
//	      │  │          ───╯
//	      │──╯                ───────  a server that is busy: what it works on at once, and 6 that wait
//	      └───────────────────────▶
//
// The smallest latency is that of the last minute or two, and once a minute there is a probe: for a moment only 2 calls
// are in flight, so that it does not become that of a server that is always busy with us. Latencies are compared among
// the calls of one kind in one namespace, as a webhook may be slow in one namespace and says nothing of the server; the
// typical one is the median of the round, for the same reason.
const (
	firstConcurrency = 8
	headroom         = 6           // calls that may wait at the server
	tolerance        = 2           // an answer that takes up to that many times the smallest latency has not waited
	pauseUnasked     = time.Second // after a 429 that does not say for how long

	probeEvery = time.Minute
	probeFor   = 100 * time.Millisecond
	probeSize  = 2
)

// signal is what the end of a call says about the server.
type signal uint8

const (
	answered   signal = iota // and the latency counts
	late                     // no answer
	overloaded               // the server asked for patience
	refused                  // an answer without the work: its latency says nothing
)

// finished is a call that has ended.
type finished struct {
	started, ended events.Time
	place          place
	signal         signal
	full           bool          // no slot was free
	wait           time.Duration // the server's wish
}

// place is where latencies can be compared.
type place struct {
	namespace string
	kind      events.CommandKind
}

// limiter says how many calls may be in flight. It is not safe for concurrent use.
type limiter struct {
	max       float64
	size      float64
	threshold float64     // from here on it grows by one a round
	paused    events.Time // nothing is sent before
	cut       events.Time // of the last 429: calls that started before it say nothing new

	smallest, before map[place]time.Duration // latencies: of this minute, and of the one before
	minute           events.Time             // when this one began
	probing          events.Time             // until then few calls may be in flight

	round []float64 // of the calls of this round: smallest latency / latency
	full  bool      // no slot was free at the end of one of them
}

func newLimiter(limit int) limiter {
	return limiter{
		max: float64(limit), size: float64(min(firstConcurrency, limit)), threshold: float64(limit),
		smallest: map[place]time.Duration{},
	}
}

// slots is how many calls may be in flight now.
func (l *limiter) slots(now events.Time) int {
	n := max(1, int(l.size))
	if now < l.probing {
		n = min(n, probeSize)
	}
	return n
}

// share is how many of them one Job may have, so that a newcomer need not wait for another Job's slow calls.
func (l *limiter) share(now events.Time) int {
	n := l.slots(now)
	return n - (n+2)/4
}

// ended takes notice of a call that ended.
func (l *limiter) ended(c finished) {
	if c.signal == overloaded {
		l.overloaded(&c)
		return
	}
	if c.signal == refused || c.started < l.cut {
		return
	}
	ratio := 0.0
	if c.signal == answered {
		smallest, known := l.note(&c)
		if !known {
			return
		}
		ratio = float64(smallest) / float64(max(1, c.ended.Sub(c.started)))
	}
	l.round = append(l.round, ratio)
	if l.full = l.full || c.full; len(l.round) >= int(l.size) {
		l.adapt()
	}
}

// overloaded halves the size, once for all the calls that were in flight together.
func (l *limiter) overloaded(c *finished) {
	wait := c.wait
	if wait == 0 {
		wait = pauseUnasked
	}
	l.paused = max(l.paused, c.ended.Add(wait))
	if c.started < l.cut {
		return
	}
	l.size = max(1, l.size/2)
	l.threshold = l.size
	l.cut = c.ended
	l.round, l.full = l.round[:0], false
}

// note keeps the smallest latency of the call's place, and returns it; known is false for the first call there.
func (l *limiter) note(c *finished) (smallest time.Duration, known bool) {
	if c.ended >= l.minute.Add(probeEvery) {
		l.before, l.smallest = l.smallest, map[place]time.Duration{}
		l.minute, l.probing = c.ended, c.ended.Add(probeFor)
	}
	took := c.ended.Sub(c.started)
	now, isNow := l.smallest[c.place]
	if !isNow || took < now {
		now = took
		l.smallest[c.place] = now
	}
	before, was := l.before[c.place]
	if was {
		now = min(now, before)
	}
	return now, isNow || was
}

// adapt ends a round.
func (l *limiter) adapt() {
	slices.Sort(l.round)
	target := l.size*min(1, tolerance*l.round[len(l.round)/2]) + headroom
	switch {
	case target <= l.size:
		l.size = target
	case l.full && l.size >= l.threshold:
		l.size = min(l.size+1, target, l.max)
	case l.full:
		l.size = min(target, l.max)
	}
	l.round, l.full = l.round[:0], false
}

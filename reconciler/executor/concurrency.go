package executor

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// The number of calls in flight adapts to the API server's latency, as TCP Vegas adapts to a network. Calls beyond the
// server's capacity would only queue at the server and delay other clients. There is no fixed rate.
//
//	after each round (as many calls as there are slots), if all slots were in use:
//
//	    size ← size × smallest latency / typical latency × 2  (× 1 at most)  + 6
//
//	     size
//	max   ┤                ╭───────    latency up to twice the recent smallest: 6 more each round
//	      │           ╭────╯
//	      │      ╭────╯       ╭──      429: half, once per round, and a pause as the server asks;
//	      │  ╭───╯         ╭──╯        from then on 1 more each round
//	      │  │          ───╯
//	      │──╯                ───────  busy server: what it handles at once, plus 6 that queue
//	      └───────────────────────▶
//
// Example: size 20, smallest latency 10 ms, typical 40 ms: the next size is 20 × 0.25 × 2 + 6 = 16.
//
// The smallest latency is measured over the last one to two minutes. Once a minute, for 100 ms, only 2 calls are
// allowed, so that the smallest latency is not measured under our own load. Latencies are compared per kind of call and
// namespace, because a webhook may slow down a single namespace. For the same reason the typical latency is the median
// of the round.
const (
	firstConcurrency = 8
	headroom         = 6           // calls that may wait in the server without harm
	tolerance        = 2           // a latency of up to twice the smallest counts as "did not queue"
	pauseUnasked     = time.Second // pause after a 429 without Retry-After

	probeEvery = time.Minute
	probeFor   = 100 * time.Millisecond
	probeSize  = 2
)

// signal says what the end of a call tells about the load of the API server.
type signal uint8

const (
	answered   signal = iota // answered normally: the latency is used
	late                     // no answer
	overloaded               // the server asked us to wait (429)
	refused                  // refused without doing work: the latency tells nothing
)

// finished describes a call that has ended.
type finished struct {
	started, ended events.Time
	place          place
	signal         signal
	full           bool          // all slots (one for each allowed call) were in use
	wait           time.Duration // pause that the server asked for
}

// place is a group of calls whose latencies can be compared: same namespace, same kind of command.
type place struct {
	namespace string
	kind      events.CommandKind
}

// limiter computes how many calls to the API server may be in flight, from their latencies. It is not safe for
// concurrent use.
type limiter struct {
	max       float64
	size      float64
	threshold float64     // from this size on, a round (as many calls as size) adds only 1
	paused    events.Time // no call starts before this time
	cut       events.Time // time of the last 429; the latencies of calls that started earlier are ignored

	smallest, before map[place]time.Duration // smallest latency in this minute, and in the previous one
	minute           events.Time             // start of this minute
	probing          events.Time             // end of the short time in which only probeSize calls are allowed

	round []float64 // for each call of this round: smallest latency / its latency
	full  bool      // all slots were in use when one of these calls ended
}

func newLimiter(limit int) limiter {
	return limiter{
		max: float64(limit), size: float64(min(firstConcurrency, limit)), threshold: float64(limit),
		smallest: map[place]time.Duration{},
	}
}

// slots returns how many calls may be in flight now: the current size, or 2 while the smallest latency is measured.
func (l *limiter) slots(now events.Time) int {
	n := max(1, int(l.size))
	if now < l.probing {
		n = min(n, probeSize)
	}
	return n
}

// share returns how many slots one Job may use: about three quarters. The rest lets a new Job start although another
// Job's calls are slow. Example: 6 of 8.
func (l *limiter) share(now events.Time) int {
	n := l.slots(now)
	return n - (n+2)/4
}

// ended updates the limiter with the latency, or the failure, of a call that has ended.
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

// overloaded halves the size after an answer 429, and forbids calls for the time that the server asked for. Several
// 429s for calls that were in flight together halve it once.
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

// note returns the smallest latency so far of the call's kind and namespace, including this call. known is false if
// this is the first such call.
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

// adapt computes a new size from the calls since the last adapt (a round), by their median latency.
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

package commands

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// Retry is the wait before a refused command is tried again. Some commands share one Retry.
type Retry struct {
	Class events.RefusalClass // why the newest try was refused; 0 after an unknown outcome
	Count uint32              // consecutive tries that failed (refused, or outcome unknown), up to Noted
	Since events.Time         // time of the first of these failures
	Noted events.Time         // time of the newest failure with a record
	Until events.Time         // end of the backoff
}

// Refused extends the backoff after a command was refused that was decided at time since; s has the limits, f the
// refusal. The wait before the next try is twice as long as the last (J-017), and at least as long as the server asked
// for. Commands decided before the end of the backoff belong to the try that began it: 10 creates of one decision that
// are refused count as one try.
func (r *Retry) Refused(s *events.Settings, since, now events.Time, f *events.CommandEnded) {
	tries := uint32(0)
	if since >= r.Until {
		tries = 1
	}
	r.note(s, now, f, tries)
}

// Again extends the backoff when a retried command failed again now. It counts each try that was due until now, also
// tries without a record. A try before its due time (a probe) is not counted, and does not move the next one.
func (r *Retry) Again(s *events.Settings, now events.Time, f *events.CommandEnded) {
	if r.Count == 0 {
		r.note(s, now, f, 1)
		return
	}
	next, due := r.Next(s, now)
	r.Count += due
	r.Class, r.Noted = f.Class, now
	r.Until = max(next, now.Add(f.RetryAfter))
}

// note extends the backoff by a refusal or an unknown outcome; tries is added to Count.
func (r *Retry) note(s *events.Settings, now events.Time, f *events.CommandEnded, tries uint32) {
	if r.Count == 0 {
		r.Since = now
	}
	r.Count += tries
	r.Class, r.Noted = f.Class, now
	r.Until = max(r.Until, now.Add(max(r.wait(s, r.Count), f.RetryAfter)))
}

// Clear resets the backoff after a success.
func (r *Retry) Clear() { *r = Retry{} }

// wait returns the delay after the nth try, which doubles with each try (J-017). In a namespace under deletion it is
// the maximum, because nothing can be created there (J-059).
func (r *Retry) wait(s *events.Settings, n uint32) time.Duration {
	if r.Class == events.RefusedNamespaceTerminating {
		return s.MaxAPIBackoff
	}
	return Doubled(s.APIBackoff, s.MaxAPIBackoff, n)
}

// Doubled returns first × 2^(n-1), at most limit; 0 for n = 0. Example: first 10 s, limit 6 min, n = 3 gives 40 s.
func Doubled(first, limit time.Duration, n uint32) time.Duration {
	if n == 0 {
		return 0
	}
	d := first
	for range n - 1 {
		if d >= limit/2 {
			return limit
		}
		d *= 2
	}
	return min(d, limit)
}

// Wished reports whether a try before Until makes no sense: the API server asked to wait that long, or the namespace is
// under deletion.
func (r *Retry) Wished(s *events.Settings) bool {
	return r.Class == events.RefusedNamespaceTerminating || r.Until > r.Noted.Add(r.wait(s, r.Count))
}

// Denied reports whether the newest try was refused for a reason that does not go away by waiting.
func (r Retry) Denied() bool {
	switch r.Class {
	case 0, events.RefusedConflict, events.RefusedServer, events.RefusedTooManyRequests:
		return false
	default:
		return true
	}
}

// Next returns the time of the first retry after now, and as tries the number of retries from Until up to now. Without
// new records, a command is retried at Until and then with doubling waits. This depends on the state only, so a restart
// changes nothing.
func (r *Retry) Next(s *events.Settings, now events.Time) (at events.Time, tries uint32) {
	for at = r.Until; at <= now; {
		tries++
		step := max(r.wait(s, r.Count+tries), time.Millisecond) // at least 1 ms, so that the loop ends with any log
		if step >= s.MaxAPIBackoff {                            // all later steps are equal: count them at once
			more := int64(now.Sub(at)) / int64(step)
			return at + events.Time((more+1)*int64(step)), tries + uint32(more)
		}
		at = at.Add(step)
	}
	return at, tries
}

// Shift adds a clock step to the times, so that what has passed of the backoff stays the same.
func (r *Retry) Shift(step time.Duration) {
	r.Since, r.Noted, r.Until = r.Since.Add(step), r.Noted.Add(step), r.Until.Add(step)
}

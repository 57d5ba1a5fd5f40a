package commands

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// Retry is what was learnt from refusals of one sort of command.
type Retry struct {
	Class events.RefusalClass // of the newest refusal; 0 after a try of unknown end
	Count uint32              // tries in a row that were refused or ended unknown, up to Noted
	Since events.Time         // the first of them
	Noted events.Time         // the newest that has a record
	Until events.Time         // not before then
}

// Refused notes a refusal of a command that was decided at since: the next try waits, twice as long each time (J-017),
// and at least as long as the server asked. Nothing is tried during the wait, so a command that was decided before its
// end was tried together with the one that began it: all of them are one try, as those of one sync are.
func (r *Retry) Refused(s *events.Settings, since, now events.Time, f *events.CommandEnded) {
	tries := uint32(0)
	if since >= r.Until {
		tries = 1
	}
	r.note(s, now, f, tries)
}

// Again notes that a command which stands was asked again in vain, now, and each time before that it was due. A try
// before its time, which is a probe, is not counted, and the next one that is due stays so.
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

// note notes a refusal or a try of unknown end, which is how many to add to those in a row.
func (r *Retry) note(s *events.Settings, now events.Time, f *events.CommandEnded, tries uint32) {
	if r.Count == 0 {
		r.Since = now
	}
	r.Count += tries
	r.Class, r.Noted = f.Class, now
	r.Until = max(r.Until, now.Add(max(r.wait(s, r.Count), f.RetryAfter)))
}

// Clear forgets refusals after a success.
func (r *Retry) Clear() { *r = Retry{} }

// wait is how long the try after the nth waits: twice as long each time (J-017). Until a namespace is gone that is
// being deleted nothing can be made in it, and asking would only be a burden (J-059).
func (r *Retry) wait(s *events.Settings, n uint32) time.Duration {
	if r.Class == events.RefusedNamespaceTerminating {
		return s.MaxAPIBackoff
	}
	return Doubled(s.APIBackoff, s.MaxAPIBackoff, n)
}

// Doubled is first × 2^(n-1), at most limit; 0 for n = 0.
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

// Wished reports whether Until is what the API server asked for, and no backoff of ours: nothing is asked before,
// whatever gives hope. Nor is it in a namespace that is being deleted.
func (r *Retry) Wished(s *events.Settings) bool {
	return r.Class == events.RefusedNamespaceTerminating || r.Until > r.Noted.Add(r.wait(s, r.Count))
}

// Denied reports whether the newest try was refused in a way that waiting does not help against.
func (r Retry) Denied() bool {
	switch r.Class {
	case 0, events.RefusedConflict, events.RefusedServer, events.RefusedTooManyRequests:
		return false
	default:
		return true
	}
}

// Next is the first time after now at which a command that stands is asked again. Without other news it is asked at
// Until, and then after a wait that doubles up to its longest, whoever asks: so a restart changes nothing. tries is how
// many of these times, from Until on, are not after now.
func (r *Retry) Next(s *events.Settings, now events.Time) (at events.Time, tries uint32) {
	for at = r.Until; at <= now; {
		tries++
		step := max(r.wait(s, r.Count+tries), time.Millisecond) // whatever a log says
		if step >= s.MaxAPIBackoff {                            // all that follow are alike
			more := int64(now.Sub(at)) / int64(step)
			return at + events.Time((more+1)*int64(step)), tries + uint32(more)
		}
		at = at.Add(step)
	}
	return at, tries
}

// Shift moves the times with the clock.
func (r *Retry) Shift(step time.Duration) {
	r.Since, r.Noted, r.Until = r.Since.Add(step), r.Noted.Add(step), r.Until.Add(step)
}

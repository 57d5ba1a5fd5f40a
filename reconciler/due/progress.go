package due

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
)

// Status writes that only show progress matter less than others, and with many Jobs most are soon overtaken by the
// next. So they are spread: a Job's progress is written at once while few Jobs have some to show, else later and
// together with newer changes, but delayed by at most reconciler.ProgressSpread. If a Job has more creates queued than
// the API server can take, its status would be outdated when read, so its progress waits for them, up to the same
// limit.
const (
	progressEvery = 50 * time.Millisecond  // between the progress writes of two Jobs
	progressAhead = time.Second            // burst: twenty Jobs may write at once
	progressBeat  = 250 * time.Millisecond // delayed writes come in step, so that one commit serves five
)

// Progress holds when each Job's progress is written. It is derived: after a loss each Job gets a new time.
type Progress struct {
	at   map[events.Stream]events.Time
	free events.Time // first unassigned time
}

// NewProgress returns the state before any Job has progress to show.
func NewProgress() Progress { return Progress{at: map[events.Stream]events.Time{}} }

// Turn returns when a Job whose progress is due at time due may write; 0 if due is 0.
func (p *Progress) Turn(s events.Stream, due events.Time) events.Time {
	if due == 0 {
		p.Forget(s)
		return 0
	}
	if at := p.at[s]; at >= due { // else it belongs to an earlier lag
		return at
	}
	free, latest := max(due, p.free), due.Add(reconciler.ProgressSpread)
	at := max(due, free.Add(-progressAhead))
	if at > latest {
		at = latest
	} else {
		p.free = free.Add(progressEvery)
	}
	at = max(due, at-at%events.Time(progressBeat))
	p.at[s] = at
	return at
}

// Due reports whether a Job's progress may be written now. A busy Job, with creates queued, gets a later turn. busy
// may be nil for never.
func (p *Progress) Due(s events.Stream, due, now events.Time, busy func(events.Stream) bool) bool {
	at := p.Turn(s, due)
	if at == 0 || at > now {
		return false
	}
	if latest := due.Add(reconciler.ProgressSpread); now < latest && busy != nil && busy(s) {
		p.at[s] = min(now.Add(progressBeat), latest)
		return false
	}
	return true
}

// Forget drops the turn of a Job.
func (p *Progress) Forget(s events.Stream) { delete(p.at, s) }

package due

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
)

// Status writes that only show progress are less important than other writes, and with many Jobs the next change soon
// makes most of them obsolete. So they are spread over time. A Job's progress is written at once while few Jobs have
// progress to show. Otherwise it is written later, together with newer changes, after at most
// reconciler.ProgressSpread. If the API server cannot keep up with a Job's pod creations, its status would be outdated
// at once. Then the write waits for the creations, up to the same limit.
const (
	progressEvery = 50 * time.Millisecond  // pace: one write per 50 ms, of all Jobs together
	progressAhead = time.Second            // burst: twenty Jobs may write at once
	progressBeat  = 250 * time.Millisecond // delayed writes start at multiples of it, so one commit serves five
)

// Progress holds when the progress of each Job is written to its status. It is not stored: after a restart each Job
// gets a new time.
type Progress struct {
	at   map[events.Stream]events.Time
	free events.Time // first time that no Job has yet
}

// NewProgress returns a Progress without Jobs.
func NewProgress() Progress { return Progress{at: map[events.Stream]events.Time{}} }

// Turn returns the time at which Job s may write its progress; 0 if due is 0. The write is due at time due, and may be
// delayed, so that many Jobs do not write at once.
func (p *Progress) Turn(s events.Stream, due events.Time) events.Time {
	if due == 0 {
		p.Forget(s)
		return 0
	}
	// Keep the time that s has. If it is before due, it was for progress that is already written, and s gets a new one
	if at := p.at[s]; at >= due {
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

// Due reports whether the progress of Job s may be written now. The write is due at time due. If busy reports that the
// executor has many pod creations of s queued, s gets a later time. A nil busy means that no Job has.
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

// Forget drops the time assigned to a Job.
func (p *Progress) Forget(s events.Stream) { delete(p.at, s) }

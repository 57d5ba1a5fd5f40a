package loop

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
)

// A status write that only shows progress is worth less than one that something waits for, and where many Jobs run,
// most of these are overtaken by the next. So they are spread: a Job whose progress is due has it written at once while
// few others have theirs to show, and else later, together with what has come meanwhile, but never by more than
// reconciler.ProgressSpread. Of a Job more pods of which wait to be made than the API server takes, a status is old
// before it is read: its progress waits until they are made, and no longer than that.
const (
	progressEvery = 50 * time.Millisecond  // between two Jobs whose progress is written
	progressAhead = time.Second            // by which some may come early: twenty Jobs write at once
	progressBeat  = 250 * time.Millisecond // those that are put off write in step, so that a commit serves five
)

// progress is when the progress of each Job is written that is behind. It is derived and may be lost: each gets another
// time then.
type progress struct {
	at   map[events.Stream]events.Time
	free events.Time // the first time that is no Job's
}

func newProgress() progress { return progress{at: map[events.Stream]events.Time{}} }

// turn is when a Job may write whose progress is due at a time; 0 for one whose is not.
func (p *progress) turn(s events.Stream, due events.Time) events.Time {
	if due == 0 {
		p.forget(s)
		return 0
	}
	if at := p.at[s]; at >= due { // else it is of an earlier lag
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

// due reports whether the turn of a Job has come. One whose pods wait to be made is busy, and gets a later turn. busy
// is nil for never.
func (p *progress) due(s events.Stream, due, now events.Time, busy func(events.Stream) bool) bool {
	at := p.turn(s, due)
	if at == 0 || at > now {
		return false
	}
	if latest := due.Add(reconciler.ProgressSpread); now < latest && busy != nil && busy(s) {
		p.at[s] = min(now.Add(progressBeat), latest)
		return false
	}
	return true
}

func (p *progress) forget(s events.Stream) { delete(p.at, s) }

// wakeAgain notes when a subject is to be decided again.
func (l *Loop) wakeAgain(s events.Stream, d *reconciler.Decision) {
	wake := d.Wake
	if at := l.progress.turn(s, d.Progress); at != 0 && (wake == 0 || at < wake) {
		wake = at
	}
	l.wakes.set(s, wake)
}

package crons

import (
	"testing"
	"time"

	upstream "github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/types"
)

// life is a CronJob as its users know it: its schedules, and from when each was valid.
type life struct {
	uid           types.UID
	created, gone time.Time
	edits         []rescheduled
	observed      bool // another controller runs it
}

// rescheduled is a schedule from a time on. With @every, base is the time from which it counts.
type rescheduled struct {
	from  time.Time
	by    string
	every time.Duration // 0 for a schedule of cron
	zone  string
	base  time.Time
}

// away is a time in which no controller recorded CronJobs. Its end is zero until it has ended.
type away struct{ from, until time.Time }

// has reports whether an instant lies in it or close to it: the newest records may be lost, and a listing takes time.
func (a *away) has(at time.Time) bool {
	const near = 5 * time.Second
	return at.After(a.from.Add(-near)) && (a.until.IsZero() || at.Before(a.until.Add(near)))
}

// unseen reports whether a change at the time done was recorded too late to tell whether the instant at was before it.
func unseen(all []away, done, at time.Time) bool {
	for i := range all {
		if all[i].has(done) && all[i].has(at) {
			return true
		}
	}
	return false
}

// due reports whether an instant was a due time, by the built-in controller's parser. It is not sure near an edit, near
// the end, and where no controller recorded one of these.
func (l *life) due(t *testing.T, gaps []away, at time.Time) (is, sure bool) {
	const near = 2 * time.Second
	if !at.After(l.created.Add(near)) || !l.gone.IsZero() && at.Add(near).After(l.gone) {
		sure = at.Before(l.created.Add(-near)) || !l.gone.IsZero() && at.After(l.gone.Add(near))
		return false, sure && (l.gone.IsZero() || !unseen(gaps, l.gone, at))
	}
	in, sure := l.edits[0], l.gone.IsZero() || !unseen(gaps, l.gone, at)
	lost := false
	for i, e := range l.edits[1:] {
		if at.After(e.from.Add(-near)) && at.Before(e.from.Add(near)) || unseen(gaps, e.from, at) {
			sure = false
		}
		if !at.Before(e.from) {
			in = e
			// A second edit, after a later start, hides from when @every counted.
			lost = l.observed && e.every != 0 && i+2 < len(l.edits)
		}
	}
	return in.due(t, at), sure && !lost && in.plain(t, at)
}

// plain reports whether the schedule has the instant from wherever it is counted. That is not so where clocks go back
// by half an hour (see schedule.Counted).
func (e *rescheduled) plain(t *testing.T, at time.Time) bool {
	if e.every != 0 {
		return true
	}
	s := upstreamOf(t, e)
	for from := 1; from <= 24; from++ {
		next := s.Next(at.Add(-time.Duration(from) * time.Hour))
		for next.Before(at) {
			next = s.Next(next)
		}
		if next.Equal(at) != e.due(t, at) {
			return false
		}
	}
	return true
}

// due reports whether an instant is a due time of the schedule.
func (e *rescheduled) due(t *testing.T, at time.Time) bool {
	if e.every != 0 {
		return at.After(e.base) && at.Sub(e.base)%e.every == 0
	}
	return upstreamOf(t, e).Next(at.Add(-time.Second)).Equal(at)
}

// before returns the last candidate for a due time before a time: the minute before, or the due time of @every.
func (l *life) before(at time.Time) time.Time {
	in := l.edits[0]
	for _, e := range l.edits[1:] {
		if at.After(e.from) {
			in = e
		}
	}
	if in.every == 0 {
		return at.Add(-time.Nanosecond).Truncate(time.Minute)
	}
	n := (at.Sub(in.base) - time.Nanosecond) / in.every
	if at.Sub(in.base) < 1 {
		n-- // division is towards 0
	}
	return in.base.Add(time.Duration(int64(n) * int64(in.every)))
}

var parsed = map[string]upstream.Schedule{}

func upstreamOf(t *testing.T, e *rescheduled) upstream.Schedule {
	t.Helper()
	text := "CRON_TZ=" + e.zone + " " + e.by
	if s := parsed[text]; s != nil {
		return s
	}
	s, err := upstream.ParseStandard(text)
	if err != nil {
		t.Fatal(err)
	}
	parsed[text] = s
	return s
}

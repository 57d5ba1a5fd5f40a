package fates

import (
	"fmt"
	"math"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Fates says what became of the due times of one CronJob: started, skipped, refused and so on, and why.
type Fates struct {
	Due      *duetimes.CronJob
	Gaps     []*history.Gap    // times in which nobody watched
	Zone     words.Zone        // time zone of times in sentences
	Location *time.Location    // time zone of the schedule; nil for UTC
	Dates    bool              // write dates in full, as a command line takes them
	Before   *duetimes.CronJob // the deleted CronJob that had the name before; nil for none
	Asked    history.Command   // create command for the open due time that was not answered yet; zero for none
	AskedBy  []explain.Mark
	Deleting explain.Mark // record that shows that the CronJob is being deleted
	whole    bool         // do not cut quoted messages
}

// At returns a due time as text, in the zone of the schedule and in UTC: "2 Jan 10:00 Europe/Berlin (09:00 UTC)".
func (f *Fates) At(t events.Time) string {
	if f.Location == nil || f.Zone.Location != nil {
		return f.moment(f.Zone.In(t)) + " " + f.Zone.Name(t)
	}
	own, utc := t.Go().In(f.Location), t.Go()
	layout := clockLayout(utc)
	if own.Day() != utc.Day() {
		layout = f.day() + layout
	}
	return fmt.Sprintf("%s %s (%s UTC)", f.moment(own), f.Location, utc.Format(layout))
}

// InZone returns a due time as text, in the zone of the schedule: "2 Jan 10:00 Europe/Berlin".
func (f *Fates) InZone(t events.Time) string {
	if f.Location == nil || f.Zone.Location != nil {
		return f.At(t)
	}
	return f.Short(t) + " " + f.Location.String()
}

// Short returns a due time as text, without the name of its zone.
func (f *Fates) Short(t events.Time) string {
	if f.Location == nil || f.Zone.Location != nil {
		return f.moment(f.Zone.In(t))
	}
	return f.moment(t.Go().In(f.Location))
}

// moment returns a time with its day. It has seconds only if they are not 0, which is rare for due times.
func (f *Fates) moment(t time.Time) string { return t.Format(f.day() + clockLayout(t)) }

func (f *Fates) day() string {
	if f.Dates {
		return "2006-01-02 "
	}
	return "2 Jan "
}

func clockLayout(t time.Time) string {
	if t.Second() != 0 {
		return "15:04:05"
	}
	return "15:04"
}

// Seen returns the time at which something was seen or decided, by our clock, as text.
func (f *Fates) Seen(t events.Time) string {
	if t == 0 {
		return "an unknown time"
	}
	in := f.Zone.In(t)
	return in.Format(f.day() + "15:04:05")
}

// BecameAt says what became of the one due time at, which is in the range of entry e.
func (f *Fates) BecameAt(e *duetimes.Entry, at events.Time) (text string, from []explain.Mark) {
	if e.Observed {
		return f.becameElsewhere(e, at, at)
	}
	return f.Became(e)
}

// LateAt returns the time until which a due time may start, by the present startingDeadlineSeconds. If that is not set,
// it returns the largest possible time.
func (f *Fates) LateAt(due events.Time) events.Time {
	if d := f.Due.Seen.Deadline; d != nil {
		return due.Add(explain.Seconds(*d))
	}
	return math.MaxInt64
}

// GoneText says when the CronJob was deleted. If nobody saw this, it only says before which time.
func (f *Fates) GoneText() string {
	if f.Due.EndUnseen {
		return "it was deleted before " + f.Seen(f.Due.Gone) + ", which no record tells"
	}
	return "it was deleted, seen at " + f.Seen(f.Due.Gone)
}

// ChangedAt returns when the spec was changed, as text. If nobody saw this, it only says before which time.
func (f *Fates) ChangedAt(ch *duetimes.Change) string {
	if ch.After.Found {
		return "a time before " + f.Seen(ch.At) + ", when no controller watched"
	}
	return f.Seen(ch.At)
}

// Idle says why the next due times of the CronJob will start no Job; empty if they will start one.
func (f *Fates) Idle() string { return Idle(f.Due) }

// Idle says why the next due times of CronJob c will start no Job, for example because it is suspended; empty if they
// will start one.
func Idle(c *duetimes.CronJob) string {
	switch {
	case c.Gone != 0:
		return "the CronJob is deleted"
	case c.Seen == nil:
		return ""
	case c.Seen.Deleted != 0:
		return "the CronJob is being deleted, so nothing starts any more"
	case c.Seen.Suspend:
		return "the CronJob is suspended, so nothing starts"
	}
	return ""
}

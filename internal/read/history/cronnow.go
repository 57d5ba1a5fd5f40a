package history

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/store"
)

// LateStart is for how long a due time may be open without being late: a start takes its time, and what is seen of it
// comes by watches.
const LateStart = 5 * time.Second

// Grace is LateStart, or startingDeadlineSeconds where that is shorter; nil is unset.
func Grace(deadlineSeconds *int64) time.Duration {
	if deadlineSeconds == nil {
		return LateStart
	}
	return min(LateStart, deadline(max(*deadlineSeconds, 0)))
}

// oneLook is for how long due times of one minute may be without a look: our controller, too, looks once a minute where
// nothing starts (C-085).
const oneLook = time.Minute

// GraceUndecided is Grace for due times that are ours to start and about which nothing was decided.
func GraceUndecided(deadlineSeconds *int64) time.Duration { return oneLook + Grace(deadlineSeconds) }

// RunsNow gives the settings that are in force at a record, or at the end (0), nil where the log does not tell, and
// whether a listing of Jobs or CronJobs goes on then.
func RunsNow(ctx context.Context, src Source, through events.Sequence) (s *events.Settings, listing bool, err error) {
	var l Unlisted
	for r, err := range src.ReadStream(ctx, events.Controller, through, store.Backward) {
		if errors.Is(err, store.ErrPruned) || src.Beside(err) {
			break
		}
		if err != nil {
			return nil, false, err
		}
		l.Take(&r)
		if s, err := SettingsIn(&r); s != nil || err != nil {
			return s, l.Listing != nil, err
		}
	}
	return nil, l.Listing != nil, nil
}

// Unlisted takes in records of the controller's stream, from the newest back.
type Unlisted struct {
	Listing *events.ListingStarted // of Jobs or CronJobs that had not ended, the first of several in a row; nil for none
	listed  []events.Resource      // whose listing had ended, by later records
}

// Take takes in the record before. The first listing of several in a row has the time that was watched last.
func (u *Unlisted) Take(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.Synced:
		u.listed = append(u.listed, f.Resources...)
	case *events.ListingStarted:
		of := func(x events.Resource) bool {
			return (x == events.Jobs || x == events.CronJobs) && !slices.Contains(u.listed, x)
		}
		if slices.ContainsFunc(f.Resources, of) {
			u.Listing = f
		}
	}
}

// passing is what of a CronJob says which due times have passed.
type passing struct {
	timing   Timing
	through  events.Time
	deadline *int64
	managed  bool
	listing  bool            // what another controller started since it was watched last is not listed yet
	hold     events.TickHold // of one that another controller runs
	state    CronState
	reason   string
	open     *OpenDue // as the records say
}

// at says how it stands at a time: in which state the CronJob is, and which due time is open.
func (p *passing) at(rules *ZoneRules, now events.Time) (state CronState, reason string, open *OpenDue) {
	state, reason, open = p.state, p.reason, p.open
	switch state {
	case CronUnseen, CronInvalid, CronDeleted, CronOverdue:
		return state, reason, open
	case CronSuspended, CronHeld, CronRunning, CronWaiting, CronDeleting:
	}
	if p.listing && !p.managed {
		return state, reason, nil // whether a due time has started is not known
	}
	first, last := rules.passed(p.timing, p.through, now)
	if last != 0 && (!p.managed || open == nil) {
		open = p.openAt(first, last)
	}
	if open == nil || state == CronSuspended || state == CronDeleting || state == CronHeld {
		return state, reason, open
	}
	late := open.First != 0 || last > events.Time(open.At) || now.Sub(events.Time(open.At)) >= Grace(p.deadline)
	if p.managed && open.Says == words.Undecided {
		first := events.Time(open.At)
		if open.First != 0 {
			first = events.Time(open.First)
		}
		late = now.Sub(first) >= GraceUndecided(p.deadline)
	} else if p.managed {
		late = now.Sub(events.Time(open.At)) >= Grace(p.deadline)
	}
	switch {
	case !p.managed && p.hold != events.NotHeld:
		state, reason = CronHeld, open.Says
	case late:
		state, reason = CronOverdue, open.Says
	}
	return state, reason, open
}

func (p *passing) openAt(first, last events.Time) *OpenDue {
	out := &OpenDue{At: recordjson.Instant(last), Hold: p.hold.String(), Says: words.WaitText(p.hold)}
	switch {
	case p.managed && p.state == CronSuspended: // nothing is decided of it
		out.Hold, out.Says = events.HeldSuspended.String(), words.WaitText(events.HeldSuspended)
	case p.managed:
		out.Hold, out.Says = "", words.Undecided
	}
	if first != last {
		out.First = recordjson.Instant(first)
	}
	return out
}

// holdNamed is what holds a start back, by its name.
func holdNamed(name string) events.TickHold {
	for _, h := range []events.TickHold{events.HeldForbid, events.HeldSuspended} {
		if h.String() == name {
			return h
		}
	}
	return events.NotHeld
}

// passed are the first and the last due time after an instant and through now; 0 for none, and where the schedule
// cannot be read.
func (z *ZoneRules) passed(t Timing, through, now events.Time) (first, last events.Time) {
	s, _, err := z.Schedule(t.Schedule, t.TimeZone, t.Hash)
	if err != nil {
		return 0, 0
	}
	l := ticks.Begin(through.Go())
	from, to := l.Unstarted(&ticks.View{Schedule: s, Anchor: t.Anchor.Go()}, now.Go())
	return events.At(from), events.At(to)
}

// Settle finds how CronJobs stand at a time: which due times have passed, what state that is, and when they are due
// next.
func Settle(ctx context.Context, src Source, all []CronSummary, now events.Time) error {
	settings, listing, err := RunsNow(ctx, src, 0)
	if err != nil {
		return err
	}
	var rules ZoneRules
	var wanted []events.ZoneName
	for i := range all {
		s := &all[i]
		for _, name := range schedule.Named(s.Schedule, s.TimeZone) {
			wanted = append(wanted, events.ZoneName{Name: name, Hash: s.ZoneHash})
		}
	}
	if err := rules.Find(ctx, src, wanted...); err != nil {
		return err
	}
	for i := range all {
		all[i].settle(&rules, settings, listing, now)
	}
	return nil
}

// settle is Settle for one. listing says that a listing of Jobs or CronJobs goes on.
func (s *CronSummary) settle(rules *ZoneRules, settings *events.Settings, listing bool, now events.Time) {
	t := Timing{Schedule: s.Schedule, TimeZone: s.TimeZone, Hash: func(string) string { return s.ZoneHash }, Anchor: events.Time(s.LastSchedule)}
	if t.Anchor == 0 {
		t.Anchor = events.Time(s.Created)
	}
	if settings != nil && !s.Gone {
		s.Managed = settings.RunsCronJobs()
	}
	if settings != nil && settings.CronJobs && s.DueThrough != 0 {
		p := passing{
			timing: t, through: events.Time(s.DueThrough), deadline: s.Deadline, managed: settings.RunsCronJobs(), hold: holdNamed(s.Hold),
			state: s.State, reason: s.Reason, open: s.Due, listing: listing,
		}
		s.State, s.Reason, s.Due = p.at(rules, now)
	}
	if s.Gone {
		s.Due = nil // what was open went with the CronJob
	}
	if s.Next = 0; idleState(s.State) != "" {
		return
	}
	t.Anchor = max(t.Anchor, events.Time(s.DueAfter))
	if due, _, err := rules.Next(t, max(now, t.Anchor).Go(), 1); err == nil && len(due) > 0 {
		s.Next = recordjson.Instant(events.At(due[0]))
	}
}

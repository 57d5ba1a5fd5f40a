package history

import (
	"cmp"
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

// LateStart is how long a due time may be open before it counts as late. A start takes time, and watches deliver it
// with a delay.
const LateStart = 5 * time.Second

// Grace returns LateStart, or startingDeadlineSeconds if that is shorter; nil means unset.
func Grace(deadlineSeconds *int64) time.Duration {
	if deadlineSeconds == nil {
		return LateStart
	}
	return min(LateStart, deadline(max(*deadlineSeconds, 0)))
}

// oneLook is the longest time between two decisions about due times: where nothing starts, our controller decides once
// a minute (C-085).
const oneLook = time.Minute

// GraceUndecided is Grace for a due time that we must start and that has no decision yet: one minute more.
func GraceUndecided(deadlineSeconds *int64) time.Duration { return oneLook + Grace(deadlineSeconds) }

// RunsNow returns the settings in force at record through, or at the end of the log if through is 0; nil if the log has
// none. listing reports whether a listing of Jobs or CronJobs was under way then.
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

// Unlisted reads the controller's stream backward for a listing that has not ended.
type Unlisted struct {
	// Listing is an unended listing of Jobs or CronJobs, the first of several in a row; nil if there is none.
	Listing *events.ListingStarted
	listed  []events.Resource // resources whose listing ended, by later records
}

// Take takes in the record before the last. Of several listings in a row, the first has the time that was watched last.
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

// passing has the fields of a CronJob that determine which due times have passed.
type passing struct {
	timing   Timing
	through  events.Time
	deadline *int64
	managed  bool
	listing  bool            // starts by another controller since the last watch are not listed yet
	hold     events.TickHold // what holds back a CronJob that another controller runs
	state    CronState
	reason   string
	open     *OpenDue // by the records
}

// at returns the state of the CronJob at time now, and its open due time.
func (p *passing) at(rules *ZoneRules, now events.Time) (state CronState, reason string, open *OpenDue) {
	state, reason, open = p.state, p.reason, p.open
	switch state {
	case CronUnseen, CronInvalid, CronDeleted, CronOverdue:
		return state, reason, open
	case CronSuspended, CronHeld, CronRunning, CronWaiting, CronDeleting:
	}
	if p.listing && !p.managed {
		return state, reason, nil // the due time may have started, unseen
	}
	first, last := rules.passed(p.timing, p.through, now)
	if last != 0 && (!p.managed || open == nil) {
		open = p.openAt(first, last)
	}
	if open == nil || state == CronSuspended || state == CronDeleting || state == CronHeld {
		return state, reason, open
	}
	since, grace := events.Time(open.At), Grace(p.deadline)
	if p.managed && open.Says == words.Undecided {
		since, grace = events.Time(cmp.Or(open.First, open.At)), GraceUndecided(p.deadline)
	}
	late := now.Sub(since) >= grace || !p.managed && open.First != 0 // another controller starts only the last of several
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
	case p.managed && p.state == CronSuspended: // we decide nothing about it while it is suspended
		out.Hold, out.Says = events.HeldSuspended.String(), words.WaitText(events.HeldSuspended)
	case p.managed:
		out.Hold, out.Says = "", words.Undecided
	}
	if first != last {
		out.First = recordjson.Instant(first)
	}
	return out
}

// holdNamed returns the hold with the name; NotHeld for other names.
func holdNamed(name string) events.TickHold {
	for _, h := range []events.TickHold{events.HeldForbid, events.HeldSuspended} {
		if h.String() == name {
			return h
		}
	}
	return events.NotHeld
}

// passed returns the first and the last due time after through and not after now. Both are 0 if there is none, or if
// the schedule cannot be read.
func (z *ZoneRules) passed(t Timing, through, now events.Time) (first, last events.Time) {
	s, _, err := z.Schedule(t.Schedule, t.TimeZone, t.Hash)
	if err != nil {
		return 0, 0
	}
	l := ticks.Begin(through.Go())
	from, to := l.Unstarted(&ticks.View{Schedule: s, Anchor: t.Anchor.Go()}, now.Go())
	return events.At(from), events.At(to)
}

// Settle updates CronJobs to time now: which due times have passed, the state that follows, and the next due time.
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

// settle is Settle for one CronJob. listing reports whether a listing of Jobs or CronJobs is under way.
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
		s.Due = nil // an open due time goes with the CronJob
	}
	if s.Next = 0; idleState(s.State) != "" {
		return
	}
	t.Anchor = max(t.Anchor, events.Time(s.DueAfter))
	if due, _, err := rules.Next(t, max(now, t.Anchor).Go(), 1); err == nil && len(due) > 0 {
		s.Next = recordjson.Instant(events.At(due[0]))
	}
}

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

// LateStart is how long after a due time the CronJob still counts as on time. A run due at 08:00:00 is late from
// 08:00:05 on: creating the Job takes time, and so does the watch that reports it.
const LateStart = 5 * time.Second

// Grace returns the shorter of LateStart and startingDeadlineSeconds, which may be nil (unset).
func Grace(deadlineSeconds *int64) time.Duration {
	if deadlineSeconds == nil {
		return LateStart
	}
	return min(LateStart, deadline(max(*deadlineSeconds, 0)))
}

// oneLook is the longest time between two decisions about due times: if there is nothing to start, our controller
// decides once a minute (C-085).
const oneLook = time.Minute

// GraceUndecided is Grace for a due time that our controller must start and about which it has not decided yet: oneLook
// more.
func GraceUndecided(deadlineSeconds *int64) time.Duration { return oneLook + Grace(deadlineSeconds) }

// RunsNow returns the controller's settings at record through, or at the end of the log if through is 0; nil if the log
// has no settings. listing reports whether the controller was listing Jobs or CronJobs then.
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

// Unlisted finds out whether the controller is still listing Jobs or CronJobs. The caller gives it the controller's
// records from the newest back.
type Unlisted struct {
	// Listing is the start of the unfinished listing, or the earliest start if a listing was begun several times; nil
	// if none is unfinished.
	Listing *events.ListingStarted
	listed  []events.Resource // resources whose listing is finished, as later records say
}

// Take processes the next older record of the controller. An older start of an unfinished listing replaces a newer one,
// because it says when the watch was last complete.
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
	listing  bool            // a listing is under way: Jobs that another controller started are not known yet
	hold     events.TickHold // why a CronJob that another controller runs does not start now
	state    CronState
	reason   string
	open     *OpenDue // the open due time according to the records
}

// at returns the state of the CronJob at time now, and its open due time. It differs from the records if due times have
// passed since the newest record.
func (p *passing) at(rules *ZoneRules, now events.Time) (state CronState, reason string, open *OpenDue) {
	state, reason, open = p.state, p.reason, p.open
	switch state {
	case CronUnseen, CronInvalid, CronDeleted, CronOverdue:
		return state, reason, open
	case CronSuspended, CronHeld, CronRunning, CronWaiting, CronDeleting:
	}
	if p.listing && !p.managed {
		return state, reason, nil // the listing may still find that the due time was started
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
	case p.managed && p.state == CronSuspended: // our controller decides nothing while the CronJob is suspended
		out.Hold, out.Says = events.HeldSuspended.String(), words.WaitText(events.HeldSuspended)
	case p.managed:
		out.Hold, out.Says = "", words.Undecided
	}
	if first != last {
		out.First = recordjson.Instant(first)
	}
	return out
}

// holdNamed parses the name of a hold ("Forbid", "Suspended"). It returns NotHeld for other names.
func holdNamed(name string) events.TickHold {
	for _, h := range []events.TickHold{events.HeldForbid, events.HeldSuspended} {
		if h.String() == name {
			return h
		}
	}
	return events.NotHeld
}

// passed returns the first and the last due time that are after through and not after now. Both are 0 if there is none,
// or if the schedule cannot be parsed.
func (z *ZoneRules) passed(t Timing, through, now events.Time) (first, last events.Time) {
	s, _, err := z.Schedule(t.Schedule, t.TimeZone, t.Hash)
	if err != nil {
		return 0, 0
	}
	l := ticks.Begin(through.Go())
	from, to := l.Unstarted(&ticks.View{Schedule: s, Anchor: t.Anchor.Go()}, now.Go())
	return events.At(from), events.At(to)
}

// Settle updates CronJobs, read from records, to time now: their open due times, their states and their next due times.
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

// settle is Settle for one CronJob. listing says that the controller is listing Jobs or CronJobs.
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
		s.Due = nil // a deleted CronJob has no open due time
	}
	if s.Next = 0; idleState(s.State) != "" {
		return
	}
	t.Anchor = max(t.Anchor, events.Time(s.DueAfter))
	if due, _, err := rules.Next(t, max(now, t.Anchor).Go(), 1); err == nil && len(due) > 0 {
		s.Next = recordjson.Instant(events.At(due[0]))
	}
}

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

// Grace returns how long a due time may pass without a Job before the CronJob counts as late: LateStart, or
// startingDeadlineSeconds if that is set and shorter.
func Grace(deadlineSeconds *int64) time.Duration {
	if deadlineSeconds == nil {
		return LateStart
	}
	return min(LateStart, deadline(max(*deadlineSeconds, 0)))
}

// oneLook is the longest time between two decisions about due times of a CronJob: if there is nothing to start, our
// controller decides once a minute (C-085).
const oneLook = time.Minute

// GraceUndecided returns how long a due time may pass without a decision of our controller before the CronJob counts as
// late: Grace, and oneLook (a minute) more.
func GraceUndecided(deadlineSeconds *int64) time.Duration { return oneLook + Grace(deadlineSeconds) }

// RunsNow returns the controller's settings at record through (0 for the end of the log); nil if the log has none.
// listing reports whether the controller was then listing Jobs or CronJobs, so that its view was incomplete.
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

// Unlisted finds out whether the controller is still listing Jobs or CronJobs at the end of its records. Give the
// records to Take, the newest first.
type Unlisted struct {
	// Listing is the record of the start of a listing that has not ended; nil if there is none. If the listing was
	// started several times, it is the earliest start.
	Listing *events.ListingStarted
	listed  []events.Resource // kinds of objects whose listing has ended, by the newer records
}

// Take processes the next older record of the controller. It sets Listing to each older start of a listing that has not
// ended, because that one says until when the watch was complete.
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

// passing has the fields of a CronJob by which its state changes as time passes: they tell which due times have passed
// since its newest record.
type passing struct {
	timing   Timing
	through  events.Time
	deadline *int64
	managed  bool
	listing  bool            // a listing has not ended, so Jobs of another controller may not be known yet
	hold     events.TickHold // why another controller, which runs the CronJob, starts nothing now
	state    CronState
	reason   string
	open     *OpenDue // due time without an outcome (not started, not skipped), by the records
}

// at returns the state of the CronJob at time now, and its open due time: the one without an outcome. Both can differ
// from what the newest record says, because due times have passed since.
func (p *passing) at(rules *ZoneRules, now events.Time) (state CronState, reason string, open *OpenDue) {
	state, reason, open = p.state, p.reason, p.open
	switch state {
	case CronUnseen, CronInvalid, CronDeleted, CronOverdue:
		return state, reason, open
	case CronSuspended, CronHeld, CronRunning, CronWaiting, CronDeleting:
	}
	if p.listing && !p.managed {
		return state, reason, nil // while a listing runs, it may still show that a Job was started for the due time
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
	// If another controller has missed several due times (First is set), the CronJob is late at once: that controller
	// starts only the last one.
	late := now.Sub(since) >= grace || !p.managed && open.First != 0
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
	case p.managed && p.state == CronSuspended: // while the CronJob is suspended, our controller decides nothing
		out.Hold, out.Says = events.HeldSuspended.String(), words.WaitText(events.HeldSuspended)
	case p.managed:
		out.Hold, out.Says = "", words.Undecided
	}
	if first != last {
		out.First = recordjson.Instant(first)
	}
	return out
}

// holdNamed returns the reason with the name "Forbid" or "Suspended", for which a due time is held back; NotHeld for
// other names.
func holdNamed(name string) events.TickHold {
	for _, h := range []events.TickHold{events.HeldForbid, events.HeldSuspended} {
		if h.String() == name {
			return h
		}
	}
	return events.NotHeld
}

// passed returns the first and the last due time t with through < t <= now. Both are 0 if there is none, or if the
// schedule cannot be parsed.
func (z *ZoneRules) passed(t Timing, through, now events.Time) (first, last events.Time) {
	s, _, err := z.Schedule(t.Schedule, t.TimeZone, t.Hash)
	if err != nil {
		return 0, 0
	}
	l := ticks.Begin(through.Go())
	from, to := l.Unstarted(&ticks.View{Schedule: s, Anchor: t.Anchor.Go()}, now.Go())
	return events.At(from), events.At(to)
}

// Settle brings the summaries of CronJobs up to time now. Time has passed since their newest records: Settle updates
// the state, the due time without an outcome, and the next due time.
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

// settle brings the summary of one CronJob up to time now: its state, its open due time and its next one. settings are
// those of the controller; listing says that a listing of Jobs or CronJobs is running.
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

package cronjob

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// CronSight is what is known of another controller that runs, or ran, the CronJob. What became of a due time (its
// "fate") is recorded once a later due time has started: until then the other controller may still start it. So no
// timer is needed while we only observe.
type CronSight struct {
	Observing bool        // another controller runs the CronJob
	Begun     events.Time // start of the observation
	Taken     events.Time // when we took over from it, until the ledger has all its starts; else 0
	Scheduled events.Time // when the published lastScheduleTime was first seen
	Ended     events.Time // when the object was gone
	// Unseen is a due time that counts as started only because status.lastScheduleTime said so. Its Job may still be
	// seen; 0 for none.
	Unseen events.Time
	// Since is the latest due time that the ledger has as started. It is the start of the ledger if there is none, and
	// 0 if unknown or without Settings.EveryFromStart.
	Since events.Time
	// Past holds earlier schedules of which it may not be recorded yet what became of some due times.
	Past     []PastSchedule
	Departed []*Run // deleted Jobs that must still be recorded as started
}

// PastSchedule is a schedule that was in force until the time Until.
type PastSchedule struct {
	Counting
	Until events.Time
}

// change begins the ledger (what became of each due time) when the CronJob is first known: from its anchor
// (lastScheduleTime or creation), under the current schedule. So the due times of this schedule stay known after an
// edit that no controller watched. It also begins to observe or to run the CronJob, as the settings say.
func (c *CronJob) change(now events.Time) {
	s := &c.Sight
	if !c.Settings.CronJobs || !c.Known() {
		return
	}
	begins := !c.Counting
	if begins {
		by := c.CountsBy()
		c.Ledger = events.TickLedger{Through: c.Anchor(), Schedule: by.Schedule, TimeZone: by.TimeZone, Zone: by.Zone}
		c.Counting = true
		s.Unseen = c.Seen.LastSchedule
		c.startedAt(c.Anchor())
		for _, r := range c.SortedRuns() {
			c.recognise(r)
		}
	}
	switch observed := c.Observed(); {
	case observed == s.Observing:
	case observed:
		s.Observing, s.Begun, s.Taken = true, now, 0
		if by := CountingOf(&c.Ledger); !c.Ledger.Closed && !by.Equal(c.CountsBy()) {
			s.Past = append(s.Past, PastSchedule{by, now})
		}
	default:
		s.Observing, s.Taken = false, now
	}
}

// sighted holds some fields of the object from before an observation is applied. They show what another controller
// does.
type sighted struct {
	version  uint64
	counts   Counting
	schedule events.Time // published LastSchedule
}

func (c *CronJob) sighted() sighted {
	if c.Sight.Observing {
		c.Replan() // read the schedule again: zone rules may have come from a record after the snapshot
	}
	return sighted{c.Seen.Version, c.CountsBy(), c.Seen.LastSchedule}
}

// looked updates Sight by an observation of the object: what it shows about another controller, or a change of the
// schedule. before has the object's fields before the observation.
func (c *CronJob) looked(before sighted, now events.Time) {
	s := &c.Sight
	if !c.Settings.CronJobs {
		return
	}
	if before.schedule != c.Seen.LastSchedule {
		s.Scheduled = now
	}
	if !c.Gone {
		s.Ended = 0
	}
	switch {
	case before.version == 0:
		c.change(now)
	case s.Observing && !before.counts.Equal(c.CountsBy()):
		s.Past = append(s.Past, PastSchedule{before.counts, now})
	}
}

// settled updates Sight by a decision that replaces the ledger by l. Once the ledger uses the next schedule, it is
// recorded what became of all due times of the previous one, so that schedule is dropped from Past.
func (c *CronJob) settled(l *events.TickLedger) {
	s := &c.Sight
	if len(s.Past) > 0 && !CountingOf(l).Equal(CountingOf(&c.Ledger)) {
		s.Past = slices.Clone(s.Past[1:])
	}
	if !s.Observing {
		s.Taken = 0
	}
}

// told updates Sight by a new entry of the ledger: what became of a due time or a Job.
func (c *CronJob) told(t *events.Tick) {
	s := &c.Sight
	if t.Fate == events.TickStarted || t.Fate == events.TickAgain {
		c.startedAt(t.First)
	}
	r := c.Runs[t.Job]
	for _, d := range s.Departed {
		if d.Job == t.Job {
			r = d
		}
	}
	switch {
	case r != nil:
		r.Told = true
	case t.Observed && t.Fate == events.TickStarted:
		s.Unseen = t.First
	}
	s.Departed = slices.DeleteFunc(slices.Clone(s.Departed), func(r *Run) bool { return r.Told })
}

// startedAt notes in Sight.Since that the ledger has a due time as started. It does so only if an @every schedule
// counts from the last start (Settings.EveryFromStart).
func (c *CronJob) startedAt(due events.Time) {
	if c.Settings.EveryFromStart {
		c.Sight.Since = max(c.Sight.Since, due)
	}
}

// recognise sets r.Told if the ledger already has the Job's due time as started, by status.lastScheduleTime alone.
func (c *CronJob) recognise(r *Run) {
	if u := c.Sight.Unseen; u != 0 && c.dueOf(r) == u {
		r.Told, c.Sight.Unseen = true, 0
	}
}

// depart removes a deleted Job, and reports whether the Job was the CronJob's own. If it is not recorded yet that the
// Job's due time has started, the Job stays in Departed.
func (c *CronJob) depart(f *events.RunGone) bool {
	if f.Other {
		return false
	}
	c.Went = append(slices.Clone(c.Went), f.Job)
	r := c.Runs[f.Job]
	c.frees(r)
	c.dropRun(f.Job)
	due := events.Time(0)
	if r != nil {
		due = c.dueOf(r)
	}
	if r != nil && c.Sight.Observing && !r.Told && (r.Manual || c.concerns(r, due) && due <= c.Now.Add(ticks.Lag)) {
		c.Sight.Departed = append(slices.Clone(c.Sight.Departed), r)
	}
	return true
}

// frees sets Freed if a deleted Job no longer takes a name that other due times need. Only an ended Job of the latest
// started due time matters: it kept other due times of its minute from starting. There are two exceptions. First, a Job
// that we deleted after its end, and that went at once: other due times are evaluated only after that. Second, a Job
// that was in the active list to the last: its end was not seen before, and a due time that waited for it starts after
// it is gone.
func (c *CronJob) frees(r *Run) {
	if r == nil || r.Result == events.ResultNone || c.Seen.Suspend || c.Sight.Observing {
		return
	}
	if r.Due == 0 || minuteOf(r.Due) != minuteOf(c.LastSchedule) || c.IsActive(r.Job) {
		return
	}
	if atOnce := r.Removed && r.Deleted == 0; !atOnce || c.dueSince(r.Ended) {
		c.Freed = c.Now
	}
}

// dueSince reports whether a due time has passed since t, counted from the latest start. Example: `@every 30s` at
// 00:04:56, the latest start was 00:04:00: yes since 00:04:02, no since 00:04:40.
func (c *CronJob) dueSince(t events.Time) bool {
	by := c.plan.Schedule
	next := by.Next(by.Base(c.LastSchedule.Go(), t.Go()))
	return t != 0 && !next.IsZero() && !next.After(c.Now.Go())
}

// minuteOf returns the minute of a due time, which is the part of it in the Job's name (C-151).
func minuteOf(due events.Time) int64 { return due.Go().Unix() / 60 }

// concerns reports whether the ledger must still record the start of Job r at the due time due. Jobs older than the
// ledger do not count.
func (c *CronJob) concerns(r *Run, due events.Time) bool {
	switch {
	case due == 0 || r.Told:
		return false
	case c.Sight.Observing:
		return due > c.Ledger.Through || r.First > c.begun()
	}
	return due > c.Ledger.Through && (c.Start == nil || due != c.Start.Due)
}

// begun returns the time after which a Job that is seen for the first time counts as new. Jobs in the first listing of
// a CronJob that another controller runs are not new.
func (c *CronJob) begun() events.Time {
	for _, g := range c.watch.gaps {
		if at := c.Sight.Begun.Go(); !g.From.After(at) && !g.Until.Before(at) {
			return events.At(g.Until)
		}
	}
	return c.Sight.Begun
}

// dueOf returns the due time for which a controller made a Job, from its name and annotation; 0 if it was made in
// another way. Before Kubernetes 1.28 controllers wrote no annotation, so the minute in the name is used.
func (c *CronJob) dueOf(r *Run) events.Time {
	suffix, ok := strings.CutPrefix(r.Name, c.Ref.Name+"-")
	minute, err := strconv.ParseInt(suffix, 10, 64)
	switch {
	case !ok || err != nil || r.Manual:
		return 0
	case r.Due != 0 && r.Due.Go().Unix()/60 != minute:
		return 0
	case r.Due != 0:
		return r.Due
	case c.Seen.LastSchedule.Go().Unix()/60 == minute:
		return c.Seen.LastSchedule
	}
	return events.Time(minute * int64(time.Minute))
}

// Sighting is a due time that another controller was seen to start.
type Sighting struct {
	Due events.Time
	Run *Run // the Job that was started; nil if only the status shows the start
}

// Sightings returns the starts by another controller that are not recorded in the ledger yet, sorted by due time.
func (c *CronJob) Sightings() (all []Sighting) {
	scheduled := c.Seen.LastSchedule
	for _, runs := range [][]*Run{c.SortedRuns(), c.Sight.Departed} {
		for _, r := range runs {
			due := c.dueOf(r)
			if c.concerns(r, due) {
				all = append(all, Sighting{due, r})
			}
			if due == scheduled {
				scheduled = 0
			}
		}
	}
	if scheduled > c.Ledger.Through {
		all = append(all, Sighting{Due: scheduled})
	}
	slices.SortStableFunc(all, func(a, b Sighting) int { return cmp.Compare(a.Due, b.Due) })
	return all
}

// View returns, for a CronJob that another controller runs, what is needed to compute its due times after the last
// entry of the ledger. by is the schedule to use.
func (c *CronJob) View(by *CronPlan) *ticks.View {
	return c.ViewAfter(by, c.Ledger.Through, c.Sight.Since)
}

// ViewAfter returns what is needed to compute the due times after through, as View does for those after the last entry
// of the ledger. since is the latest start up to through, 0 if unknown. The status may show a later start already: the
// due times of @every must not count from that start yet.
func (c *CronJob) ViewAfter(by *CronPlan, through, since events.Time) *ticks.View {
	anchor := c.Anchor()
	if since != 0 && anchor > through {
		anchor = since
	}
	return &ticks.View{Schedule: by.Schedule, None: by.Err != nil || by.ZoneErr != nil, Anchor: anchor.Go(), Gaps: c.watch.gaps}
}

// DueThrough returns the time up to which it is known what became of every due time. Only the last one may be open: it
// may still start.
func (c *CronJob) DueThrough() events.Time {
	if !c.Counting {
		return c.Anchor()
	}
	l := &c.Ledger
	through := l.Through
	if !c.Sight.Observing {
		return max(through, l.Open)
	}
	for _, past := range c.Sight.Past {
		through = max(through, past.Until)
	}
	for _, s := range c.Sightings() {
		through = max(through, s.Due)
	}
	return through
}

// DueAfter returns the time after which the CronJob is due next: the latest due time known as started, else the
// creation time (C-071). It may be in the future, if another controller's clock is ahead or the clock was set back.
func (c *CronJob) DueAfter() events.Time {
	after := max(c.Anchor(), c.Seen.LastSchedule, c.Sight.Since)
	for _, s := range c.Sightings() {
		after = max(after, s.Due)
	}
	return after
}

// Held returns what, as far as known, keeps the next due time of a CronJob from starting: its zone, its suspension or a
// Job that still runs.
func (c *CronJob) Held() events.TickHold {
	if c.plan.ZoneErr != nil {
		return events.HeldBadZone
	}
	return c.Kept()
}

// Kept returns why the spec or the active Jobs keep the next due time from starting. It ignores whether the zone's
// rules are known.
func (c *CronJob) Kept() events.TickHold {
	switch {
	case c.Seen.Suspend:
		return events.HeldSuspended
	case c.Seen.Policy != "Forbid":
		return events.NotHeld
	}
	for _, a := range c.Seen.Active {
		if r := c.Runs[a.UID]; r != nil && !r.Finished() {
			return events.HeldForbid
		}
	}
	return events.NotHeld
}

func (s *CronSight) shift(step time.Duration) {
	for _, t := range []*events.Time{&s.Begun, &s.Taken, &s.Scheduled, &s.Ended} {
		*t = t.Add(step)
	}
	for i := range s.Past {
		s.Past[i].Until = s.Past[i].Until.Add(step)
	}
}

func (s *CronSight) toWire(w *pb.CronJobState) {
	w.Observing, w.Begun, w.Taken = s.Observing, int64(s.Begun), int64(s.Taken)
	w.Scheduled, w.Ended, w.Unseen = int64(s.Scheduled), int64(s.Ended), int64(s.Unseen)
	w.Since = int64(s.Since)
	for i := range s.Past {
		p := &s.Past[i]
		w.Past = append(w.Past, &pb.PastSchedule{Schedule: p.Schedule, TimeZone: p.TimeZone, Zone: p.Zone, Until: int64(p.Until)})
	}
	for _, r := range s.Departed {
		w.Departed = append(w.Departed, r.toWire())
	}
}

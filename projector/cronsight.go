package projector

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// CronSight is what is known of another controller that runs a CronJob, or ran it. What it made of due times is told
// when a later one is seen to have started: until then it may start those before. So nothing is waited for while
// nothing is seen.
type CronSight struct {
	Observing bool        // another controller runs it
	Begun     events.Time // since when due times are observed
	Taken     events.Time // when this controller took over, until the ledger has what the other one did; 0 for none
	Scheduled events.Time // when the published LastSchedule was seen first
	Ended     events.Time // when the object was gone
	// Unseen is a due time of which the ledger says that it started, by the status alone. Its Job may be seen yet.
	Unseen events.Time
	// Since is the due time that was started last, as the ledger tells, or from which it began (Settings.EveryFromStart);
	// 0 for not known.
	Since events.Time
	// Past are schedules of before, as long as a create of theirs may be on its way.
	Past     []PastSchedule
	Departed []*Run // Jobs that are gone and that the ledger does not have yet
}

// PastSchedule is a schedule that was in force until a time.
type PastSchedule struct {
	Counting
	Until events.Time
}

// change begins the ledger when the CronJob is first known: from its anchor on, by the schedule as it is then. An edit
// that comes while it is not watched finds the due times of before. It begins to observe the CronJob, or to run it, by
// the settings.
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

// sighted is what of the object says what another controller does.
type sighted struct {
	version  uint64
	counts   Counting
	schedule events.Time // the published one
}

func (c *CronJob) sighted() sighted {
	if c.Sight.Observing {
		c.replan() // the rules of its zone may have come after a snapshot of it
	}
	return sighted{c.Seen.Version, c.CountsBy(), c.Seen.LastSchedule}
}

// looked folds what the object says of another controller, and that another schedule is in force.
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

// settled folds what a decision says of the ledger: once it counts by another schedule, all due times by the one of
// before have fates.
func (c *CronJob) settled(l *events.TickLedger) {
	s := &c.Sight
	if len(s.Past) > 0 && !CountingOf(l).Equal(CountingOf(&c.Ledger)) {
		s.Past = slices.Clone(s.Past[1:])
	}
	if !s.Observing {
		s.Taken = 0
	}
}

// told folds what the ledger says of a Job.
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

// startedAt notes that the ledger tells of a start.
func (c *CronJob) startedAt(due events.Time) {
	if c.Settings.EveryFromStart {
		c.Sight.Since = max(c.Sight.Since, due)
	}
}

// recognise looks whether the ledger has the due time of a Job that was seen.
func (c *CronJob) recognise(r *Run) {
	if u := c.Sight.Unseen; u != 0 && c.dueOf(r) == u {
		r.Told, c.Sight.Unseen = true, 0
	}
}

// depart folds that a Job is gone. It is kept until the ledger has it.
func (c *CronJob) depart(uid types.UID) {
	r := c.Runs[uid]
	c.frees(r)
	c.dropRun(uid)
	due := events.Time(0)
	if r != nil {
		due = c.dueOf(r)
	}
	if r != nil && c.Sight.Observing && !r.Told && (r.Manual || c.concerns(r, due) && due <= c.Now.Add(ticks.Lag)) {
		c.Sight.Departed = append(slices.Clone(c.Sight.Departed), r)
	}
}

// frees notes that a Job gives its name back. One that has ended, of the run that started last, has kept other due
// times of its minute from starting. One that we have deleted, and that went at once, has not: that is done when it
// ends, and other due times are looked at behind it. Nor has one that is in the list of active Jobs to the last: its end
// was not seen before it went, and a due time that passes beside an active Job of its minute is started once that is
// gone.
func (c *CronJob) frees(r *Run) {
	if r == nil || r.Result == events.ResultNone || r.Removed && r.Deleted == 0 || c.Seen.Suspend || c.Sight.Observing {
		return
	}
	if c.IsActive(r.Job) {
		return
	}
	if r.Due != 0 && minuteOf(r.Due) == minuteOf(c.LastSchedule) {
		c.Freed = c.Now
	}
}

// minuteOf is what the name of a run's Job has of its due time (C-151).
func minuteOf(due events.Time) int64 { return due.Go().Unix() / 60 }

// concerns reports whether a Job is a start that the ledger is to tell of. Those that were there when it began were
// before its time.
func (c *CronJob) concerns(r *Run, due events.Time) bool {
	switch {
	case due == 0 || r.Told:
		return false
	case c.Sight.Observing:
		return due > c.Ledger.Through || r.First > c.begun()
	}
	return due > c.Ledger.Through && (c.Start == nil || due != c.Start.Due)
}

// begun is since when Jobs that are seen first are new: those of the listing in which the CronJob was observed first
// are not.
func (c *CronJob) begun() events.Time {
	for _, g := range c.watch.gaps {
		if at := c.Sight.Begun.Go(); !g.From.After(at) && !g.Until.Before(at) {
			return events.At(g.Until)
		}
	}
	return c.Sight.Begun
}

// dueOf is the instant for which a controller made a Job, by the name and the annotation; 0 for one that was made in
// another way. Controllers of before Kubernetes 1.28 write no annotation: the name has the minute.
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

// Sighting is a due time that another controller has started.
type Sighting struct {
	Due events.Time
	Run *Run // nil where the status alone says so
}

// Sightings are the starts of another controller of which the ledger does not tell yet, by due time.
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

// View is what is known of the CronJob as another controller runs it, and as it counts by a schedule.
func (c *CronJob) View(by *CronPlan) *ticks.View {
	return c.ViewAfter(by, c.Ledger.Through, c.Sight.Since)
}

// ViewAfter is the view of those after an instant, when the run that was started last until then is known: since, or 0.
// The status may know of a later one already, from which @every does not count yet.
func (c *CronJob) ViewAfter(by *CronPlan, through, since events.Time) *ticks.View {
	anchor := c.Anchor()
	if since != 0 && anchor > through {
		anchor = since
	}
	return &ticks.View{Schedule: by.Schedule, None: by.Err != nil || by.ZoneErr != nil, Anchor: anchor.Go(), Gaps: c.watch.gaps}
}

// DueThrough is the instant through which due times have fates, or none that may yet start: one that is open is the
// last of them.
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

// DueAfter is the instant after which the CronJob is due next: the newest due time that is known to have been started,
// else its creation (C-071). It may be later than now: another controller whose clock is ahead has started one, or the
// clock was set back.
func (c *CronJob) DueAfter() events.Time {
	after := max(c.Anchor(), c.Seen.LastSchedule, c.Sight.Since)
	for _, s := range c.Sightings() {
		after = max(after, s.Due)
	}
	return after
}

// Held is what holds the next start back, as far as it was seen.
func (c *CronJob) Held() events.TickHold {
	if c.plan.ZoneErr != nil {
		return events.HeldBadZone
	}
	return c.Kept()
}

// Kept is what of the spec and of its Jobs holds the next start back, whether the rules of its zone are known or not.
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

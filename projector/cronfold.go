package projector

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// cronRows are what the commands of each kind mean to a CronJob.
var cronRows = commands.Rows[*CronJob]{
	events.CommandCreateJob:       {Launch: (*CronJob).launchCreate, Over: (*CronJob).createEnded, Restart: (*CronJob).createRestarted},
	events.CommandDeleteRun:       {Launch: (*CronJob).launchAlone, Over: (*CronJob).deleteEnded},
	events.CommandReadRun:         {Launch: (*CronJob).launchAlone, Over: (*CronJob).runRead},
	events.CommandReadCronJob:     {Over: (*CronJob).readEnded},
	events.CommandWriteCronStatus: {Launch: (*CronJob).launchWrite, Over: (*CronJob).writeEnded},
}

// Apply folds a record. It cannot fail: records are validated when they are decoded.
func (c *CronJob) Apply(rec *events.Record) {
	c.Now = rec.Time
	if rec.Stream == c.Stream {
		c.Head = rec.Sequence
	}
	switch f := rec.Facts.(type) {
	case *events.CronJobSeen:
		before := c.sighted()
		c.seen(rec, f)
		c.looked(before, rec.Time)
	case *events.CronJobGone:
		c.Gone, c.Seen.Version = true, max(c.Seen.Version, f.Version)
		if c.Settings.CronJobs {
			c.Sight.Ended = rec.Time
		}
		c.happened()
	case *events.RunSeen:
		c.runSeen(rec, f)
	case *events.RunGone:
		c.depart(f.Job)
		c.Went = append(slices.Clone(c.Went), f.Job)
		c.happened()
	case *events.JobResumed:
		if c.Edited == 0 { // a list begins no pass of its own: a changed schedule goes on waiting
			c.happened()
		}
	case *events.TimerFired:
		c.happened()
	case *events.Decision:
		if rec.Kind == events.KindDecided || rec.Kind == events.KindTicksObserved {
			c.decided(rec, f)
		}
	case *events.CommandEnded:
		c.book.End(rec, f)
		c.come()
	case *events.ClockStepped:
		c.book.Shift(f.Step)
		c.Edited = shifted(c.Edited, f.Step)
		c.pendAnew()
		c.Sight.shift(f.Step)
	case *events.ControllerStarted:
		c.book.Restart()
		c.Watched = rec.Time
		c.happened()
		c.change(rec.Time)
	}
	if !c.Busy() {
		c.Went = nil
	}
}

// happened begins another pass: something has happened on which the built-in would reconcile. When the pass before came
// to its end without an error, those of before are forgotten (C-191).
func (c *CronJob) happened() {
	began := c.Pass.Since != c.Now // in an earlier turn, so there was a decision since
	idle := c.Now > c.Retry().Until.Add(idleRetry)
	if !c.Busy() && (!c.Pass.Over && began || c.Pass.Over && idle) {
		c.Retry().Clear()
	}
	c.Pass, c.Edited = CronPass{Since: c.Now, Kept: c.untold()}, 0
}

// idleRetry is how long after a backoff the loop has surely looked, and found nothing to do: that look ended without an
// error.
const idleRetry = time.Second

// seen folds what was seen of the object. What the status is to say beside what was published stays so.
func (c *CronJob) seen(rec *events.Record, f *events.CronJobSeen) {
	if f.Version < c.Seen.Version {
		return
	}
	if rec.Evidence.Name != "" {
		c.Ref.Namespace, c.Ref.Name = rec.Evidence.Namespace, rec.Evidence.Name
	}
	first, rescheduled, suspended := !c.Known(), c.reschedules(f), c.suspends(f)
	before := events.Time(0)
	if rescheduled || suspended {
		before = c.pending()
	}
	c.setActive(c.seenActive(f.Active))
	c.LastSchedule = unsaid(c.LastSchedule, c.Seen.LastSchedule, f.LastSchedule)
	c.LastSuccess = unsaid(c.LastSuccess, c.Seen.LastSuccess, f.LastSuccess)
	c.Seen, c.Gone, c.Look = *f, false, false
	c.replan()
	if first {
		c.Watched = rec.Time
		for _, r := range c.SortedRuns() {
			if r.Namespace != "" && r.Namespace != c.Ref.Namespace {
				c.strange = append(c.strange, r.Job)
				c.dropRun(r.Job)
			}
		}
		c.LastSuccess = f.LastSuccess // that of a Job which is not its own does not count
	}
	c.happened()
	switch {
	case f.Found: // a start looks at each CronJob (C-091)
	case rescheduled:
		c.edit(before)
	case suspended:
		c.Pending = before
	}
}

// unsaid is what the status is to say, now that now is published: what was to be said and is later, or else that.
func unsaid(want, published, now events.Time) events.Time {
	if want != published {
		return max(want, now)
	}
	return now
}

// decided folds a decision: what it says of due times and of the list, then its commands. After a backoff it is the
// first of another pass, whether a timer or an answer that came then led to it: errors of that begin another backoff.
func (c *CronJob) decided(rec *events.Record, d *events.Decision) {
	if c.Pass.Over && c.Retry().Until <= c.Now {
		c.Pass = CronPass{Since: c.Now}
	}
	for i := range d.Steps {
		if s := d.Steps[i].Cron; s != nil {
			c.stepped(s)
		}
	}
	c.book.Decide(rec, d)
}

func (c *CronJob) stepped(s *events.CronStep) {
	if s.Ledger != nil {
		c.settled(s.Ledger)
		c.Ledger, c.Counting = *s.Ledger, true
	}
	for i := range s.Ticks {
		t := &s.Ticks[i]
		c.told(t)
		if t.Job != "" && len(c.Late) > 0 {
			c.came(t)
		}
		if s := c.Start; s != nil && s.Stage != StartAsked && (t.Name == s.Name || t.Fate == events.TickRefused) {
			c.Start = nil
		}
	}
	c.leave(s.Left...)
	for _, n := range s.Notices {
		c.Pass.Told = append(c.Pass.Told, n.Reason)
	}
	if s.Trigger != "" {
		c.Triggered = s.Trigger
	}
}

func (c *CronJob) launchAlone(f *commands.Flight) { c.book.Launch(f, &commands.Target{}) }

func (c *CronJob) launchWrite(f *commands.Flight) {
	c.LastSuccess = f.Command.(*events.WriteCronStatus).LastSuccess
	c.book.Launch(f, &c.book.Itself)
}

func (c *CronJob) launchCreate(f *commands.Flight) {
	c.Start = &CronStart{CreateJob: *f.Command.(*events.CreateJob), Stage: StartAsked}
	c.Pass.Tried, c.Sight.Taken = true, 0
	c.book.Launch(f, &c.book.Itself)
}

func (c *CronJob) createRestarted(f *commands.Flight) {
	c.book.Land(f)
	c.Start.Stage = StartUnknown
}

func (c *CronJob) createEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	s := c.Start
	switch {
	case f.Ending == events.Done:
		c.made(events.RunName{UID: f.UID, Name: s.Name, Version: f.Version}, f.Written)
	case f.Ending == events.Refused && f.Class == events.RefusedNameTaken:
		s.Stage = StartTaken
	case f.Ending == events.Withdrawn, s.Trigger != "" && f.Class == events.RefusedTemplate:
		c.notMade()
	case f.Ending == events.OutcomeUnknown:
		s.Stage = StartUnknown
		c.failed(f)
	case s.Trigger != "" && (f.Class == events.RefusedServer || f.Class == events.RefusedTooManyRequests):
		s.Stage = StartLater
		c.failed(f)
	default:
		s.Stage = StartRefused
		c.failed(f)
	}
}

// made notes that the run which is being started is there: it is active, and its due time the newest one that has
// started (C-170).
func (c *CronJob) made(run events.RunName, created events.Time) {
	s := c.Start
	s.Stage, s.Made, s.At = StartThere, run, c.Now
	if !c.IsActive(run.UID) {
		c.join(run)
	}
	if s.Due != 0 {
		c.LastSchedule = max(c.LastSchedule, s.Due.Second()) // somebody may have set a later one meanwhile (C-176)
	}
	if r := c.Runs[run.UID]; r != nil {
		r.Told = true
	} else if !slices.Contains(c.Went, run.UID) { // until the watch shows it
		c.putRun(&Run{Told: true, RunSeen: events.RunSeen{Job: run.UID, Name: run.Name, Version: run.Version, Created: created, Due: s.Due}})
	}
}

func (c *CronJob) deleteEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	d := flight.Command.(*events.DeleteRun)
	switch {
	case f.Ending == events.Done:
		c.leave(d.Job)
		if r := c.Runs[d.Job]; r != nil {
			r.Removed = true
		}
	case d.Replacing:
		c.failed(f)
	default:
		c.Pass.Kept = append(c.Pass.Kept, d.Job) // another pass tries again (C-125)
	}
}

// notMade gives up the start of a run whose Job does not exist. A due time is found again by the schedule; that a run
// was asked for is known from here alone.
func (c *CronJob) notMade() {
	if s := c.Start; s.Trigger != "" {
		s.Stage = StartMissing
		return
	}
	c.Start = nil
}

// runRead folds the end of a live read of a Job. What was found has been folded as an observation before.
func (c *CronJob) runRead(flight *commands.Flight, f *events.CommandEnded, _ string) {
	r := flight.Command.(*events.ReadRun)
	missing := f.Ending == events.Refused && f.Class == events.RefusedNotFound
	if s := c.Start; s != nil && s.Name == r.Name && !r.Replacing && (missing || f.Ending == events.Done) {
		switch run := c.Runs[f.UID]; {
		case missing: // it was not made, or is gone, or is made yet
			c.mayCome(s)
			c.notMade()
		case run != nil && !c.IsActive(f.UID):
			told := run.Told
			c.made(events.RunName{UID: f.UID, Name: s.Name, Version: f.Version}, run.Created)
			switch {
			case s.Due != 0 && run.Due != 0 && run.Due.Second() != s.Due.Second(): // all else is done as by the built-in controller
				s.Stage = StartAnother
			case told: // another controller made it, or it was due by a schedule of before; the status has it now
				c.Start = nil
			}
		case s.Trigger == "" && s.Due != c.Ledger.Open:
			c.Start = nil // the due time has its fate
		default:
			s.Stage = StartForeign
		}
		return
	}
	switch {
	case missing && !r.Replacing:
		c.Pass.Missing = append(c.Pass.Missing, r.Job)
	case f.Ending == events.Done && f.UID != r.Job && !r.Replacing:
		c.Pass.Missing = append(c.Pass.Missing, r.Job) // another object has its name (C-110)
	case f.Ending == events.Done:
		c.Pass.Found = append(c.Pass.Found, r.Job)
	default:
		c.failed(f)
	}
}

func (c *CronJob) readEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	switch {
	case f.Ending == events.Done && f.UID == c.Ref.UID:
		c.Look, c.Pass.Read = false, true
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		c.Gone = true // another CronJob has the name, or none
	default:
		c.failed(f)
	}
}

func (c *CronJob) writeEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	w := flight.Command.(*events.WriteCronStatus)
	if f.Ending == events.Refused && f.Class == events.RefusedConflict && !c.Pass.Read {
		c.Look = true // there is another version, of which nothing showed that was to be recorded: it is read at once, and no error
		return
	}
	if f.Ending != events.Done {
		c.Pass.Unwritten, c.Look = true, true
		c.failed(f)
		return
	}
	if f.Version > c.Seen.Version { // else the watch has shown it before the answer came
		c.Seen.Version, c.Seen.Active = f.Version, slices.Clone(w.Active)
		c.Seen.LastSchedule, c.Seen.LastSuccess = w.LastSchedule, w.LastSuccess
		c.happened() // it is seen by this answer as by the watch (C-174)
	}
}

// failed folds an error: the pass is over, and another one begins after a backoff (C-190). Errors of one pass are one.
// When something else begins a pass during a backoff, and that fails as well, the wait of before goes on: the first to
// end counts (C-089).
func (c *CronJob) failed(f *events.CommandEnded) {
	if f.Ending == events.Withdrawn || c.Pass.Over {
		return
	}
	c.Pass.Over = true
	settings := *c.Settings
	settings.APIBackoff, settings.MaxAPIBackoff = firstCronBackoff, maxCronBackoff
	r := c.Retry()
	if r.Until.Add(settings.RequestTimeout) < c.Now { // the pass that began then has ended without an error (C-191)
		r.Clear()
	}
	waits := r.Until
	r.Until = 0
	r.Refused(&settings, c.Now, c.Now, f)
	if waits > c.Now && waits < r.Until && f.RetryAfter == 0 {
		r.Until = waits
	}
}

// compareRuns orders Jobs by name.
func compareRuns(a, b *events.RunSeen) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Job, b.Job))
}

// mayCome remembers a run whose create ended unknown and whose Job a live read did not find: the request may still be
// on its way.
func (c *CronJob) mayCome(s *CronStart) {
	if s.Stage != StartUnknown {
		return // the API server has answered: no request is on its way
	}
	late := append(slices.Clone(c.Late), *s)
	c.Late = late[max(0, len(late)-keptLate):]
}

package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// rows says, for each kind of command, which methods of CronJob handle its start, end and a restart.
var rows = commands.Rows[*CronJob]{
	events.CommandCreateJob:       {Launch: (*CronJob).launchCreate, Over: (*CronJob).createEnded, Restart: (*CronJob).createRestarted},
	events.CommandDeleteRun:       {Launch: (*CronJob).launchAlone, Over: (*CronJob).deleteEnded},
	events.CommandReadRun:         {Launch: (*CronJob).launchAlone, Over: (*CronJob).runRead},
	events.CommandReadCronJob:     {Over: (*CronJob).readEnded},
	events.CommandWriteCronStatus: {Launch: (*CronJob).launchWrite, Over: (*CronJob).writeEnded},
}

// Apply updates the CronJob by one record. It cannot fail: records are validated when they are decoded.
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
		if c.depart(f) || c.Edited == 0 {
			c.happened()
		}
	case *events.JobResumed:
		if c.Edited == 0 { // a changed schedule waits for its timer: a resume after a listing begins no pass then
			c.happened()
		}
	case *events.TimerFired:
		c.happened()
	case *events.CommandEnded:
		c.Told.ended(rec.Sequence, f)
		c.book.End(rec, f)
		c.come()
	case *events.Decision:
		c.decided(rec, f)
	case *events.ClockStepped:
		c.book.Shift(f.Step)
		c.Told.Backoff = Place{} // forget it: its time is from before the clock step
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

// ended stores the record at as the newest failure of that sort of command, or clears it when such a command succeeds.
func (t *Told) ended(at events.Sequence, f *events.CommandEnded) {
	traits := f.Type.Traits()
	if traits == nil {
		return
	}
	switch f.Ending {
	case events.Done:
		t.Failed[traits.Sort] = 0
	case events.Refused, events.OutcomeUnknown:
		t.Failed[traits.Sort] = at
	case events.Withdrawn:
	}
}

// happened begins a new pass (what one reconcile of the built-in controller does), after a change for which that
// controller would reconcile. If the previous pass ended without an error, earlier errors no longer count for the
// backoff (C-191).
func (c *CronJob) happened() {
	began := c.Pass.Since != c.Now // the pass began in an earlier turn, so a decision followed
	idle := c.Now > c.Retry().Until.Add(idleRetry)
	if !c.Busy() && (!c.Pass.Over && began || c.Pass.Over && idle) {
		c.Retry().Clear()
	}
	c.Pass, c.Edited = CronPass{Since: c.Now, Kept: c.untold()}, 0
}

// idleRetry is the time after the end of a backoff by which the loop has certainly evaluated the CronJob. If no new
// error came until then, that evaluation succeeded.
const idleRetry = time.Second

// seen updates the CronJob by an observation of its object. Changes of the status that we have not published yet are
// kept.
func (c *CronJob) seen(rec *events.Record, f *events.CronJobSeen) {
	if f.Version < c.Seen.Version {
		return
	}
	if rec.Evidence.Name != "" {
		c.Ref.Namespace, c.Ref.Name = rec.Evidence.Namespace, rec.Evidence.Name
	}
	first, rescheduled := !c.Known(), c.reschedules(f)
	delayed := !first && c.delays(f)
	before := events.Time(0)
	if rescheduled || delayed {
		before = c.pending()
	}
	c.setActive(c.seenActive(f.Active))
	c.LastSchedule = unsaid(c.LastSchedule, c.Seen.LastSchedule, f.LastSchedule)
	c.LastSuccess = unsaid(c.LastSuccess, c.Seen.LastSuccess, f.LastSuccess)
	c.Seen, c.Gone, c.Look = *f, false, false
	c.Replan()
	if first {
		c.Watched = rec.Time
		for _, r := range c.SortedRuns() {
			if r.Namespace != "" && r.Namespace != c.Ref.Namespace {
				c.strange = append(c.strange, r.Job)
				c.dropRun(r.Job)
			}
		}
		// At the first observation, forget the success of Jobs that named the CronJob as owner but are not its own
		c.LastSuccess = f.LastSuccess
	}
	c.happened()
	switch {
	case f.Found: // the start of a controller evaluates each CronJob (C-091)
	case rescheduled:
		c.edit(before)
	case delayed:
		c.Pending = before
	}
}

// unsaid returns the time to publish in a status field, after another client published now. want is the time that we
// want to publish; published is the time that the status had before. If want was not published yet, it stays, unless
// now is later.
func unsaid(want, published, now events.Time) events.Time {
	if want != published {
		return max(want, now)
	}
	return now
}

// decided applies a decision: first what it says of due times and of the active list, then its commands. The first
// decision after a backoff begins a new pass (one reconcile), whether a timer or an answer led to it. Errors of that
// pass begin another backoff.
func (c *CronJob) decided(rec *events.Record, d *events.Decision) {
	if rec.Kind != events.KindDecided && rec.Kind != events.KindTicksObserved {
		return
	}
	if c.Pass.Over && c.Retry().Until <= c.Now {
		c.Pass = CronPass{Since: c.Now}
	}
	for i := range d.Steps {
		if s := d.Steps[i].Cron; s != nil {
			c.tellsStep(s)
			c.stepped(s)
		}
	}
	c.book.Decide(rec, d)
	if rec.Kind == events.KindDecided {
		c.Told.Decided = rec.Sequence
	}
}

// tellsStep updates Told (the records that are cited when a user asks about the CronJob) by what a decision's step says
// of due times. Call it before the step changes c.Ledger.
func (c *CronJob) tellsStep(s *events.CronStep) {
	t := &c.Told
	for i := range s.Ticks {
		tick := &s.Ticks[i]
		if tick.Fate != events.TickManual && tick.Fate != events.TickTriggered {
			t.Due, t.DueAt = *tick, c.Head
			continue
		}
		if r := c.Runs[tick.Job]; r != nil {
			r.Asked, r.AskedBy = tick.Fate, tick.By
		}
	}
	switch l := s.Ledger; {
	case l == nil:
	case l.Open == 0 || l.Hold == events.NotHeld:
		t.Held = Place{}
	// If the open due time and the reason are as before, the older record stays
	case t.Held.At == 0 || l.Open != c.Ledger.Open || l.Hold != c.Ledger.Hold:
		t.Held = c.here()
	}
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

// made updates the CronJob when the Job being created exists. The Job joins the active list, and its due time becomes
// lastScheduleTime (C-170).
func (c *CronJob) made(run events.RunName, created events.Time) {
	s := c.Start
	s.Stage, s.Made, s.At = StartThere, run, c.Now
	if !c.IsActive(run.UID) {
		c.join(run)
	}
	if s.Due != 0 {
		c.LastSchedule = max(c.LastSchedule, s.Due.Second()) // another client may have set a later time (C-176)
	}
	if r := c.Runs[run.UID]; r != nil {
		r.Told = true
	} else if !slices.Contains(c.Went, run.UID) {
		// Add the Job before the watch shows it, unless the watch has shown its deletion already
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
		c.Pass.Kept = append(c.Pass.Kept, d.Job) // the next pass tries again (C-125)
	}
}

// notMade ends a start whose Job was not created. The next decision finds a due time again by the schedule. A run that
// a user triggered is known only from its start, so that start is kept.
func (c *CronJob) notMade() {
	if s := c.Start; s.Trigger != "" {
		s.Stage = StartMissing
		return
	}
	c.Start = nil
}

// runRead updates the CronJob when a live read of one of its Jobs has ended. If the read found the Job, an observation
// record before this one has it.
func (c *CronJob) runRead(flight *commands.Flight, f *events.CommandEnded, _ string) {
	r := flight.Command.(*events.ReadRun)
	missing := f.Ending == events.Refused && f.Class == events.RefusedNotFound
	if s := c.Start; s != nil && s.Name == r.Name && !r.Replacing && (missing || f.Ending == events.Done) {
		switch run := c.Runs[f.UID]; {
		case missing: // not created, deleted already, or still to be created
			c.mayCome(s)
			c.notMade()
		case run != nil && !c.IsActive(f.UID):
			told := run.Told
			c.made(events.RunName{UID: f.UID, Name: s.Name, Version: f.Version}, run.Created)
			switch {
			// The Job with this name was made for another due time. Any other Job of the CronJob counts as the one to
			// start, as in the built-in controller
			case s.Due != 0 && run.Due != 0 && run.Due.Second() != s.Due.Second():
				s.Stage = StartAnother
			// Another controller made the Job, or an earlier schedule, so its start is recorded already. The status has
			// it now
			case told:
				c.Start = nil
			}
		case s.Trigger == "" && s.Due != c.Ledger.Open:
			c.Start = nil // the ledger has what became of the due time
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
		c.Gone = true // another CronJob has the name, or no CronJob has it
	default:
		c.failed(f)
	}
}

func (c *CronJob) writeEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	w := flight.Command.(*events.WriteCronStatus)
	if f.Ending == events.Refused && f.Class == events.RefusedConflict && !c.Pass.Read {
		c.Look = true // the API server has a newer version that is not recorded yet: read it at once; this is no error
		return
	}
	if f.Ending != events.Done {
		c.Pass.Unwritten, c.Look = true, true
		c.failed(f)
		return
	}
	// If the version is not newer, the watch has shown this write before its answer came
	if f.Version > c.Seen.Version {
		c.Seen.Version, c.Seen.Active = f.Version, slices.Clone(w.Active)
		c.Seen.LastSchedule, c.Seen.LastSuccess = w.LastSchedule, w.LastSuccess
		c.happened() // the answer counts like an observation by the watch (C-174)
	}
}

// failed handles a failed command: it ends the pass (one reconcile), and a new pass begins after a backoff (C-190). All
// errors of one pass count as one. A change may begin a pass during a backoff. If that pass fails, too, and the old
// backoff ends first, the old backoff counts (C-089).
func (c *CronJob) failed(f *events.CommandEnded) {
	if f.Ending == events.Withdrawn || c.Pass.Over {
		return
	}
	c.Pass.Over = true
	settings := *c.Settings
	settings.APIBackoff, settings.MaxAPIBackoff = firstCronBackoff, maxCronBackoff
	r := c.Retry()
	before := r.Until
	// If no error came within RequestTimeout after the old backoff, the pass after it ended without one: start anew
	// (C-191)
	if r.Until.Add(settings.RequestTimeout) < c.Now {
		r.Clear()
	}
	waits := r.Until
	r.Until = 0
	r.Refused(&settings, c.Now, c.Now, f)
	if waits > c.Now && waits < r.Until && f.RetryAfter == 0 {
		r.Until = waits
	}
	if r.Until != before { // otherwise the backoff of an earlier failure goes on
		c.Told.Backoff = c.here()
	}
}

// here returns the sequence and the time of the record that is being applied.
func (c *CronJob) here() Place { return Place{c.Head, c.Now} }

// compareRuns orders Jobs by name, then UID.
func compareRuns(a, b *events.RunSeen) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Job, b.Job))
}

// mayCome adds a run to Late. Its create ended with unknown outcome and a live read did not find its Job, but the
// request may still arrive.
func (c *CronJob) mayCome(s *CronStart) {
	if s.Stage != StartUnknown {
		return // the API server has answered: no request is in flight
	}
	late := append(slices.Clone(c.Late), *s)
	c.Late = late[max(0, len(late)-keptLate):]
}

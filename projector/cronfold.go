package projector

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/commands"
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
		c.seen(rec, f)
	case *events.CronJobGone:
		c.Gone, c.Seen.Version = true, max(c.Seen.Version, f.Version)
		c.happened()
	case *events.RunSeen:
		c.runSeen(rec, f)
	case *events.RunGone:
		delete(c.Runs, f.Job)
		c.happened()
	case *events.JobResumed, *events.TimerFired:
		c.happened()
	case *events.Decision:
		if rec.Kind == events.KindDecided {
			c.decided(rec, f)
		}
	case *events.CommandEnded:
		c.book.End(rec, f)
	case *events.ClockStepped:
		c.book.Shift(f.Step)
		if c.Edited != 0 {
			c.Edited = c.Edited.Add(f.Step)
		}
	case *events.ControllerStarted:
		c.book.Restart()
		c.Watched = rec.Time
		c.happened()
	}
}

// happened begins another pass: something has happened on which the built-in would reconcile.
func (c *CronJob) happened() { c.Pass, c.Edited = CronPass{}, 0 }

// seen folds what was seen of the object. What the status is to say beside what was published stays so.
func (c *CronJob) seen(rec *events.Record, f *events.CronJobSeen) {
	if f.Version < c.Seen.Version {
		return
	}
	if rec.Evidence.Name != "" {
		c.Ref.Namespace, c.Ref.Name = rec.Evidence.Namespace, rec.Evidence.Name
	}
	first := !c.Known()
	edited := !first && (f.Schedule != c.Seen.Schedule || !equalText(f.TimeZone, c.Seen.TimeZone))
	active := slices.Clone(f.Active)
	for _, r := range c.Seen.Active {
		if !c.IsActive(r.UID) { // it has left the list
			active = slices.DeleteFunc(active, func(a events.RunName) bool { return a.UID == r.UID })
		}
	}
	for _, r := range c.Active {
		same := func(a events.RunName) bool { return a.UID == r.UID }
		if !slices.ContainsFunc(c.Seen.Active, same) && !slices.ContainsFunc(active, same) {
			active = append(active, r)
		}
	}
	c.Active = active
	c.LastSchedule = pending(c.LastSchedule, c.Seen.LastSchedule, f.LastSchedule)
	c.LastSuccess = pending(c.LastSuccess, c.Seen.LastSuccess, f.LastSuccess)
	c.Seen, c.Gone, c.Look = *f, false, false
	if first {
		c.Watched = rec.Time
	}
	c.replan()
	c.happened()
	if edited {
		c.Edited = rec.Time
	}
}

// pending is what the status is to say, now that now is published: what was to be said and is later, or else that.
func pending(want, published, now events.Time) events.Time {
	if want != published {
		return max(want, now)
	}
	return now
}

func (c *CronJob) runSeen(rec *events.Record, f *events.RunSeen) {
	c.heard = true
	r := c.Runs[f.Job]
	if r == nil {
		r = &Run{}
		c.Runs[f.Job] = r
	} else if f.Version < r.Version {
		return
	}
	r.RunSeen = *f
	if c.Ref.Namespace == "" {
		c.Ref.Namespace = rec.Evidence.Namespace
	}
	if c.Ref.Name == "" {
		c.Ref.Name = rec.Evidence.Owner
	}
	c.happened()
}

// decided folds a decision: what it says of due times and of the list, then its commands.
func (c *CronJob) decided(rec *events.Record, d *events.Decision) {
	for i := range d.Steps {
		if s := d.Steps[i].Cron; s != nil {
			c.stepped(s)
		}
	}
	c.book.Decide(rec, d)
}

func (c *CronJob) stepped(s *events.CronStep) {
	if s.Ledger != nil {
		c.Ledger, c.Counting = *s.Ledger, true
	}
	for _, t := range s.Ticks {
		if r := c.Runs[t.Job]; r != nil {
			r.Told = true
		}
		if s := c.Start; s != nil && s.Stage != StartAsked && (t.Name == s.Name || t.Fate == events.TickRefused) {
			c.Start = nil
		}
	}
	for _, uid := range s.Left {
		c.leave(uid)
	}
	for _, n := range s.Notices {
		c.Pass.Told = append(c.Pass.Told, n.Reason)
	}
	if s.Trigger != "" {
		c.Triggered = s.Trigger
	}
}

// leave takes a Job off the list of active ones.
func (c *CronJob) leave(uid types.UID) {
	c.Active = slices.DeleteFunc(slices.Clone(c.Active), func(r events.RunName) bool { return r.UID == uid })
}

func (c *CronJob) launchAlone(f *commands.Flight) { c.book.Launch(f, &commands.Target{}) }

func (c *CronJob) launchWrite(f *commands.Flight) {
	c.LastSuccess = f.Command.(*events.WriteCronStatus).LastSuccess
	c.book.Launch(f, &c.book.Itself)
}

func (c *CronJob) launchCreate(f *commands.Flight) {
	c.Start = &CronStart{CreateJob: *f.Command.(*events.CreateJob), Stage: StartAsked}
	c.Pass.Tried = true
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
		c.Retry().Clear()
	case f.Ending == events.Refused && f.Class == events.RefusedNameTaken:
		s.Stage = StartTaken
	case f.Ending == events.Withdrawn:
		c.Start = nil
	case f.Ending == events.OutcomeUnknown:
		s.Stage = StartUnknown
		c.failed(flight, f)
	default:
		s.Stage = StartRefused
		c.failed(flight, f)
	}
}

// made notes that the run which is being started is there: it is active, and its due time the newest one that has started (C-170).
func (c *CronJob) made(run events.RunName, created events.Time) {
	s := c.Start
	s.Stage, s.Made, s.At = StartThere, run, c.Now
	if !c.IsActive(run.UID) {
		c.Active = append(slices.Clone(c.Active), run)
	}
	if s.Due != 0 {
		c.LastSchedule = s.Due.Second()
	}
	if c.Runs[run.UID] == nil { // until the watch shows it
		c.Runs[run.UID] = &Run{Told: true, RunSeen: events.RunSeen{Job: run.UID, Name: run.Name, Version: run.Version, Created: created, Due: s.Due}}
	}
}

func (c *CronJob) deleteEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	d := flight.Command.(*events.DeleteRun)
	switch {
	case f.Ending == events.Done:
		c.leave(d.Job)
		if r := c.Runs[d.Job]; r != nil && r.Deleted == 0 {
			r.Deleted = c.Now
		}
	case d.Replacing:
		c.failed(flight, f)
	default:
		c.Pass.Kept = append(c.Pass.Kept, d.Job) // another pass tries again (C-125)
	}
}

// runRead folds the end of a live read of a Job. What was found has been folded as an observation before.
func (c *CronJob) runRead(flight *commands.Flight, f *events.CommandEnded, _ string) {
	r := flight.Command.(*events.ReadRun)
	missing := f.Ending == events.Refused && f.Class == events.RefusedNotFound
	if s := c.Start; s != nil && s.Name == r.Name && !r.Replacing && (missing || f.Ending == events.Done) {
		switch run := c.Runs[f.UID]; {
		case missing:
			c.Start = nil // it was not made, or is gone
		case run != nil && !c.IsActive(f.UID):
			c.made(events.RunName{UID: f.UID, Name: s.Name, Version: f.Version}, run.Created)
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
		c.failed(flight, f)
	}
}

func (c *CronJob) readEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	switch {
	case f.Ending == events.Done && f.UID == c.Ref.UID:
		c.Look, c.Pass.Read = false, true
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		c.Gone = true // another CronJob has the name, or none
	default:
		c.failed(flight, f)
	}
}

func (c *CronJob) writeEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	w := flight.Command.(*events.WriteCronStatus)
	if f.Ending != events.Done {
		c.Pass.Unwritten, c.Look = true, true
		c.failed(flight, f)
		return
	}
	if f.Version > c.Seen.Version {
		c.Seen.Version, c.Seen.Active = f.Version, slices.Clone(w.Active)
		c.Seen.LastSchedule, c.Seen.LastSuccess = w.LastSchedule, w.LastSuccess
	}
	c.Retry().Clear()
}

// failed folds an error: the pass is over, and another one begins after a backoff.
func (c *CronJob) failed(flight *commands.Flight, f *events.CommandEnded) {
	if f.Ending == events.Withdrawn {
		return
	}
	c.Pass.Over = true
	settings := *c.Settings
	settings.APIBackoff, settings.MaxAPIBackoff = firstCronBackoff, maxCronBackoff
	c.Retry().Refused(&settings, flight.Since, c.Now, f)
}

// compareRuns orders Jobs by name.
func compareRuns(a, b *events.RunSeen) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Job, b.Job))
}

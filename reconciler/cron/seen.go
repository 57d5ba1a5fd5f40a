package cron

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/reconciler"
)

// The rules below observe a CronJob that another controller runs. They derive what became of each due time (time at
// which the schedule asks for a run) from the CronJob's Jobs and status. They record it once a later due time has
// started, because until then the other controller may still start the earlier one. These rules issue no commands, and
// never report a start as ours.

// jobLag is the longest delay between a CronJob status that shows a start and the watch event of the started Job: the
// two come by different watches. Example: status.lastScheduleTime changes at 12:00:01, so the rules wait for the Job
// until 12:00:11 before they record the start.
const jobLag = 10 * time.Second

// tellOurs records a run that this controller started before another controller took over.
func (p *plan) tellOurs() {
	if s := p.cron.Start; s != nil && s.Stage == cronjob.StartThere {
		p.tellStart(s)
	}
}

// tellSeen records which due times another controller has started, and what became of all earlier ones. It uses, for
// each time, the schedule that the CronJob had then.
func (p *plan) tellSeen() {
	cp := p.cron
	if cp.ledger.Closed {
		return
	}
	seen := cp.Sightings()
	for i, past := range cp.Sight.Past {
		by := cp.By(past.Counting)
		if seen = p.tellStarts(&by, seen, past.Until); p.WakeAt(past.Until.Add(ticks.Lag)) {
			// Wait up to ticks.Lag after the change of the schedule: the other controller may be about to create the
			// Job
			return
		}
		p.dropPast(i, &by)
	}
	p.tellStarts(cp.Plan(), seen, p.Now.Add(ticks.Lag))
}

// tellElsewhere records what another controller did to a CronJob of ours, before we took it over or while we were not
// running. It leaves open the newest due time, because its run may still start.
func (p *plan) tellElsewhere() {
	cp := p.cron
	seen := cp.Sightings()
	if !cp.Settings.CronJobs || !cp.Counting || cp.ledger.Closed || cp.Sight.Taken == 0 && len(seen) == 0 {
		return
	}
	for i, past := range cp.Sight.Past {
		by := cp.By(past.Counting)
		seen = p.tellStarts(&by, seen, past.Until)
		p.dropPast(i, &by)
	}
	// The ledger may follow an older schedule than the current one, if that changed while we were not running
	by := cp.countedBy()
	if n := len(seen); n > 0 && p.takenUp(&by, &seen[n-1]) {
		seen = seen[:n-1]
	}
	p.tellStarts(&by, seen, p.Now.Add(ticks.Lag))
	if until := cp.Sight.Taken; until != 0 {
		l := ledgerOf(&cp.ledger)
		p.tellObserved(reconciler.TakenOver, "another controller ran the CronJob until now", &l, p.observedTicks(l.PassOver(cp.view(&by), until.Go()), nil))
	}
}

// takenUp reports whether s, a start by another controller, is the newest due time and is missing from status.active.
// by is the schedule. In this case our own create of the Job finds its name taken by the Job of s, and adds that Job to
// status.active (C-160).
func (p *plan) takenUp(by *cronjob.CronPlan, s *cronjob.Sighting) bool {
	cp := p.cron
	if s.Run == nil || s.Due <= cp.Seen.LastSchedule || cp.IsActive(s.Run.Job) {
		return false
	}
	next := p.cron.view(by).Next(s.Due.Go())
	return next.IsZero() || next.After(p.Now.Go())
}

// dropPast records what became of the last due times of by, the i-th of the past schedules, and continues with the next
// schedule.
func (p *plan) dropPast(i int, by *cronjob.CronPlan) {
	cp := p.cron
	l := ledgerOf(&cp.ledger)
	said := p.observedTicks(l.Drop(cp.view(by), cp.Sight.Past[i].Until.Go(), ticks.Replaced), nil)
	p.tellObserved(reconciler.DueTimesSeen, "the schedule was changed", &l, said)
	cp.keep(&l)
	if i+1 < len(cp.Sight.Past) {
		next := &cp.Sight.Past[i+1]
		cp.ledger.Schedule, cp.ledger.TimeZone, cp.ledger.Zone = next.Schedule, next.TimeZone, next.Zone
	} else {
		cp.count()
	}
	p.sayLedger(reconciler.ScheduleChanged, "the schedule was changed: due times count by the new one from here on", events.CronStep{})
}

// tellStarts records which of the starts in seen were due up to until, and returns the later ones. by is the schedule
// at that time. If we only observe the CronJob, and only its status shows the last start, tellStarts waits up to jobLag
// for the Job.
func (p *plan) tellStarts(by *cronjob.CronPlan, seen []cronjob.Sighting, until events.Time) []cronjob.Sighting {
	cp := p.cron
	l, v := ledgerOf(&cp.ledger), cp.view(by)
	var said []events.Tick
	for ; len(seen) > 0 && seen[0].Due <= until; seen = seen[1:] {
		s := seen[0]
		if s.Run == nil && !v.Has(s.Due.Go()) {
			continue // only the status shows this start, and it is no due time of this schedule
		}
		if s.Run == nil && cp.Sight.Observing && len(seen) == 1 && p.WakeAt(cp.Sight.Scheduled.Add(jobLag)) {
			break
		}
		said = append(said, p.observedTicks(l.See(v, s.Due.Go()), &s)...)
		cp.startedAt(s.Due)
		v = cp.ViewAfter(by, timeOf(l.Through), cp.since)
	}
	p.tellObserved(reconciler.DueTimesSeen, "another controller has started a run", &l, said)
	return seen
}

// closeSeen records what became of the remaining due times of a deleted CronJob.
func (p *plan) closeSeen() {
	cp := p.cron
	if !cp.Gone || cp.ledger.Closed || p.WakeAt(cp.Sight.Ended.Add(ticks.Lag)) {
		return
	}
	l := ledgerOf(&cp.ledger)
	said := p.observedTicks(l.Drop(cp.view(cp.Plan()), cp.Sight.Ended.Go(), ticks.Deleted), nil)
	cp.ledger.Closed = true
	cp.keep(&l)
	p.sayLedger(reconciler.CronJobDeleted, "the CronJob is deleted: there are no more due times", events.CronStep{Ticks: said})
}

// tellObserved adds to the decision a step with `said`, what became of due times that another controller ran. It adds
// none if said is empty. l is the record of due times after it.
func (p *plan) tellObserved(reason events.Reason, sentence string, l *ticks.Ledger, said []events.Tick) {
	if len(said) > 0 {
		p.cron.keep(l)
		p.sayLedger(reason, sentence, events.CronStep{Ticks: said})
	}
}

// observedTicks converts entries about due times that another controller ran to the form in which the log has them. If
// s is not nil, it is the start of the last entry.
func (p *plan) observedTicks(entries []ticks.Entry, s *cronjob.Sighting) []events.Tick {
	var out []events.Tick
	for i := range entries {
		t := p.tick(&entries[i])
		t.Observed = true
		switch cp := p.cron; {
		case s != nil && i == len(entries)-1:
			p.elsewhere(&t, s)
		// If we ran the CronJob then, a due time that did not start was merged into a later run
		case t.Fate == events.TickSkipped && !cp.Sight.Observing && cp.Sight.Taken == 0:
			t.Fate, t.Observed = events.TickMerged, false
		}
		out = append(out, t)
	}
	return out
}

// elsewhere notes in t, a due time, which Job another controller created for it, and when that Job was first seen. s is
// the start. If the Job was not seen, its name may still be in status.active.
func (p *plan) elsewhere(t *events.Tick, s *cronjob.Sighting) {
	t.Observed = true
	if r := s.Run; r != nil {
		t.Job, t.Name, t.Late, t.Seen = r.Job, r.Name, max(0, r.Created.Sub(s.Due)), max(0, r.First.Sub(s.Due))
		return
	}
	t.Name = runName(p.cron.Ref.Name, s.Due)
	for _, a := range p.cron.Seen.Active {
		if a.Name == t.Name {
			t.Job = a.UID
		}
	}
}

// count makes the ledger (the record of due times) follow the current schedule.
func (cp *cronPlan) count() {
	l := &cp.ledger
	l.Schedule, l.TimeZone, l.Zone = cp.Seen.Schedule, cp.Seen.TimeZone, cp.Plan().Hash
}

// countedBy returns the schedule that the ledger (the record of due times) follows, which may be older than the current
// one.
func (cp *cronPlan) countedBy() cronjob.CronPlan { return cp.By(cronjob.CountingOf(&cp.ledger)) }

// view returns the due times of the schedule `by` after the last recorded one. It is for a CronJob that another
// controller runs.
func (cp *cronPlan) view(by *cronjob.CronPlan) *ticks.View {
	return cp.ViewAfter(by, cp.ledger.Through, cp.since)
}

// startedAt notes, in the field since, that the due time `due` has started. It does so only if an @every schedule
// counts from the last start (Settings.EveryFromStart).
func (cp *cronPlan) startedAt(due events.Time) {
	if cp.Settings.EveryFromStart {
		cp.since = max(cp.since, due)
	}
}

package reconciler

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/projector"
)

// A CronJob that another controller runs is only looked at. What that one made of a due time is found from its Jobs and
// the status, and is told when a later one is seen to have started: until then the other controller may start those
// before. Nothing is decided here, and no sentence claims a start as ours.

// jobLag is how long the Job of a start may be seen later than the status that tells of it: they come by two watches.
const jobLag = 10 * time.Second

// tellOurs tells of a run that this controller started before another one took over.
func (p *plan) tellOurs() {
	if s := p.cron.Start; s != nil && s.Stage == projector.StartThere {
		p.tellStart(s)
	}
}

// tellSeen tells of the due times that another controller has started, and of those before them, by the schedules that
// were in force.
func (p *plan) tellSeen() {
	cp := p.cron
	if cp.ledger.Closed {
		return
	}
	seen := cp.Sightings()
	for i, past := range cp.Sight.Past {
		by := cp.By(past.Counting)
		if seen = p.tellStarts(&by, seen, past.Until); p.wake(past.Until.Add(ticks.Lag)) {
			return // a create may be on its way
		}
		p.dropPast(i, &by)
	}
	p.tellStarts(cp.Plan(), seen, p.now.Add(ticks.Lag))
}

// tellElsewhere tells of what another controller did to a CronJob that this one runs: before it took over, or while it
// was away. The latest due time is left open: it may start yet.
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
	by := cp.countedBy() // it may have been changed while nobody watched
	if n := len(seen); n > 0 && p.takenUp(&by, &seen[n-1]) {
		seen = seen[:n-1]
	}
	p.tellStarts(&by, seen, p.now.Add(ticks.Lag))
	if until := cp.Sight.Taken; until != 0 {
		l := ledgerOf(&cp.ledger)
		p.tellObserved(TakenOver, "another controller ran the CronJob until now", &l, p.observedTicks(l.PassOver(cp.view(&by), until.Go()), nil))
	}
}

// takenUp reports whether a start of another controller is that of the latest due time, and the status does not have
// it: its Job is found when its create is tried, and is taken up then (C-160).
func (p *plan) takenUp(by *projector.CronPlan, s *projector.Sighting) bool {
	cp := p.cron
	if s.Run == nil || s.Due <= cp.Seen.LastSchedule || cp.IsActive(s.Run.Job) {
		return false
	}
	next := p.cron.view(by).Next(s.Due.Go())
	return next.IsZero() || next.After(p.now.Go())
}

// dropPast gives the last due times of a schedule of before their fates, and lets the ledger count by the one that
// followed.
func (p *plan) dropPast(i int, by *projector.CronPlan) {
	cp := p.cron
	l := ledgerOf(&cp.ledger)
	said := p.observedTicks(l.Drop(cp.view(by), cp.Sight.Past[i].Until.Go(), ticks.Replaced), nil)
	p.tellObserved(DueTimesSeen, "the schedule was changed", &l, said)
	cp.keep(&l)
	if i+1 < len(cp.Sight.Past) {
		next := &cp.Sight.Past[i+1]
		cp.ledger.Schedule, cp.ledger.TimeZone, cp.ledger.Zone = next.Schedule, next.TimeZone, next.Zone
	} else {
		cp.count()
	}
	p.sayLedger(ScheduleChanged, "the schedule was changed: due times count by the new one from here on", events.CronStep{})
}

// tellStarts tells of the starts through a time, and returns the others. The last one waits for its Job to be seen, if
// the status alone tells of it.
func (p *plan) tellStarts(by *projector.CronPlan, seen []projector.Sighting, until events.Time) []projector.Sighting {
	cp := p.cron
	l, v := ledgerOf(&cp.ledger), cp.view(by)
	var said []events.Tick
	for ; len(seen) > 0 && seen[0].Due <= until; seen = seen[1:] {
		s := seen[0]
		if s.Run == nil && !v.Has(s.Due.Go()) {
			continue // no controller wrote that
		}
		if s.Run == nil && cp.Sight.Observing && len(seen) == 1 && p.wake(cp.Sight.Scheduled.Add(jobLag)) {
			break
		}
		said = append(said, p.observedTicks(l.See(v, s.Due.Go()), &s)...)
		cp.startedAt(s.Due)
		v = cp.ViewAfter(by, timeOf(l.Through), cp.since)
	}
	p.tellObserved(DueTimesSeen, "another controller has started a run", &l, said)
	return seen
}

// closeSeen gives the last due times their fate when the CronJob is gone: there are no more.
func (p *plan) closeSeen() {
	cp := p.cron
	if !cp.Gone || cp.ledger.Closed || p.wake(cp.Sight.Ended.Add(ticks.Lag)) {
		return
	}
	l := ledgerOf(&cp.ledger)
	said := p.observedTicks(l.Drop(cp.view(cp.Plan()), cp.Sight.Ended.Go(), ticks.Deleted), nil)
	cp.ledger.Closed = true
	cp.keep(&l)
	p.sayLedger(CronJobDeleted, "the CronJob is deleted: there are no more due times", events.CronStep{Ticks: said})
}

// tellObserved says what the ledger says of due times that another controller ran, when it says anything.
func (p *plan) tellObserved(reason events.Reason, sentence string, l *ticks.Ledger, said []events.Tick) {
	if len(said) > 0 {
		p.cron.keep(l)
		p.sayLedger(reason, sentence, events.CronStep{Ticks: said})
	}
}

// observedTicks are entries of due times that another controller ran; s is the start that the last of them is.
func (p *plan) observedTicks(entries []ticks.Entry, s *projector.Sighting) []events.Tick {
	var out []events.Tick
	for i := range entries {
		t := p.tick(&entries[i])
		t.Observed = true
		switch cp := p.cron; {
		case s != nil && i == len(entries)-1:
			p.elsewhere(&t, s)
		case t.Fate == events.TickSkipped && !cp.Sight.Observing && cp.Sight.Taken == 0: // it was ours to start
			t.Fate, t.Observed = events.TickMerged, false
		}
		out = append(out, t)
	}
	return out
}

// elsewhere says of a start of another controller which Job it made, and when that was seen. A Job that was not seen
// may stand in the list of active ones.
func (p *plan) elsewhere(t *events.Tick, s *projector.Sighting) {
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

// count lets the ledger count by the schedule as it is now.
func (cp *cronPlan) count() {
	l := &cp.ledger
	l.Schedule, l.TimeZone, l.Zone = cp.Seen.Schedule, cp.Seen.TimeZone, cp.Plan().Hash
}

// countedBy is the schedule by which the ledger counts.
func (cp *cronPlan) countedBy() projector.CronPlan { return cp.By(projector.CountingOf(&cp.ledger)) }

// view is what is known of the due times of which the ledger does not tell yet, as another controller runs them.
func (cp *cronPlan) view(by *projector.CronPlan) *ticks.View {
	return cp.ViewAfter(by, cp.ledger.Through, cp.since)
}

// startedAt takes over that the ledger tells of a start.
func (cp *cronPlan) startedAt(due events.Time) {
	if cp.Settings.EveryFromStart {
		cp.since = max(cp.since, due)
	}
}

package cron

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/reconciler"
)

// timeOf converts t to an events.Time. The zero time becomes 0.
func timeOf(t time.Time) events.Time {
	return events.At(t)
}

func goTime(t events.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.Go()
}

// ledgerOf converts the ledger (the record of due times) from the form in the log to the type of package ticks.
func ledgerOf(l *events.TickLedger) ticks.Ledger {
	return ticks.Ledger{Through: goTime(l.Through), Open: goTime(l.Open), Hold: ticks.Hold(l.Hold)}
}

// looking returns the input with which package ticks computes what became of due times: under schedule `by`, at time
// now. hold is the reason why the newest one does not start.
func (p *plan) looking(by *cronjob.CronPlan, now events.Time, hold events.TickHold) *ticks.Look {
	cp := p.cron
	return &ticks.Look{
		Now: now.Go(), Schedule: by.Schedule, Anchor: cp.Anchor().Go(), Deadline: cp.Seen.Deadline, Gaps: cp.Unwatched(), Hold: ticks.Hold(hold),
		Paced: cp.Settings.DuePace > 0,
	}
}

// hold records the reason why the open due time (passed, but not yet started) does not start. It records nothing if no
// due time is open, or if the reason has not changed.
func (p *plan) hold(hold events.TickHold) {
	cp := p.cron
	if cp.ledger.Open == 0 || cp.ledger.Hold == hold {
		return
	}
	l := ledgerOf(&cp.ledger)
	l.Hold = ticks.Hold(hold)
	p.tellTicks(reconciler.DueTimes, "a due time is held back", &l, nil, true)
}

// tellTicks adds to the decision a step with entries (what became of due times) and l, the record of due times after
// it. changed says that l differs from the recorded one. If there are no entries and no changes, it adds no step.
func (p *plan) tellTicks(reason events.Reason, sentence string, l *ticks.Ledger, entries []ticks.Entry, changed bool) {
	cp := p.cron
	through := cp.ledger.Through
	cp.keep(l)
	if len(entries) == 0 && !changed && through == cp.ledger.Through {
		return
	}
	said := events.CronStep{}
	for i := range entries {
		said.Ticks = append(said.Ticks, p.tick(&entries[i]))
	}
	p.sayLedger(reason, sentence, said)
}

// sayLedger adds a step that carries the current ledger (the record of due times).
func (p *plan) sayLedger(reason events.Reason, sentence string, said events.CronStep) {
	stands := p.cron.ledger
	said.Ledger = &stands
	p.say(reason, sentence, said)
}

func (p *plan) tick(e *ticks.Entry) events.Tick {
	t := events.Tick{
		First: timeOf(e.First), Last: timeOf(e.Last), Fate: events.TickFate(e.Fate), Into: timeOf(e.Into), Late: e.Late, Zone: p.cron.ledger.Zone,
	}
	if e.Fate == ticks.Unknown {
		t.UnwatchedFrom, t.UnwatchedUntil = timeOf(e.Gap.From), timeOf(e.Gap.Until)
	}
	return t
}

// tellStart records that the Job of a due time, or of a trigger, was created.
func (p *plan) tellStart(s *cronjob.CronStart) {
	cp := p.cron
	if s.Due == 0 {
		p.say(reconciler.Triggered, "the run that was asked for has started", events.CronStep{Ticks: []events.Tick{{
			First: s.At, Last: s.At, Fate: events.TickTriggered, Job: s.Made.UID, Name: s.Name, By: p.asker(s.Trigger),
		}}})
		return
	}
	l := ledgerOf(&cp.ledger)
	e := l.Revive(s.Due.Go(), s.At.Go())
	if s.Due == cp.ledger.Open {
		e, _ = l.Start(s.At.Go())
	}
	t := p.tick(&e)
	t.Job, t.Name, t.Late = s.Made.UID, s.Name, e.Late
	cp.keep(&l)
	p.sayLedger(reconciler.RunStarted, "its Job was made", events.CronStep{Ticks: []events.Tick{t}})
}

// tellRefused records that the Job of a due time, or of a trigger, cannot be created.
func (p *plan) tellRefused(s *cronjob.CronStart) {
	cp := p.cron
	t := events.Tick{First: s.Due, Last: s.Due, Fate: events.TickRefused, Zone: cp.ledger.Zone}
	if s.Due == 0 {
		t.First, t.Last, t.Zone, t.By = p.Now, p.Now, "", p.asker(s.Trigger)
		sentence := "the run that was asked for cannot start"
		switch asked := cp.Seen.Trigger; {
		case s.Stage != cronjob.StartLater || cp.Seen.Deleted != 0:
		case asked == nil || asked.Value != s.Trigger:
			sentence = "the run that was asked for is not tried again: another one was asked for, or none"
		default:
			sentence = "the run that was asked for is not tried again: the API server has failed for too long"
		}
		p.say(reconciler.RunRefused, sentence, events.CronStep{Ticks: []events.Tick{t}})
		return
	}
	l := ledgerOf(&cp.ledger)
	if s.Due == cp.ledger.Open {
		l.End(ticks.Refused)
	}
	cp.keep(&l)
	sentence := "something else has the name of its Job"
	if s.Stage == cronjob.StartAnother {
		t.Name, sentence = s.Name, anotherHasTheName
	}
	p.sayLedger(reconciler.RunRefused, sentence, events.CronStep{Ticks: []events.Tick{t}})
}

// anotherHasTheName is the explanation for a due time that does not start because another due time of the same minute
// did (C-152).
const anotherHasTheName = "the Job of another due time has the name of its Job"

// replaceSchedule makes the ledger (the record of due times) follow a changed schedule (C-094). It first records what
// became of the due times of the old schedule.
func (p *plan) replaceSchedule() {
	cp := p.cron
	at := p.Now
	if cp.Edited != 0 {
		at = cp.Edited
	}
	if cp.ledger.Closed || cronjob.CountingOf(&cp.ledger).Equal(cp.CountsBy()) {
		return
	}
	var entries []ticks.Entry
	l := ledgerOf(&cp.ledger)
	old := cp.countedBy()
	if old.Err == nil && old.ZoneErr == nil {
		k := p.looking(&old, at, cp.ledger.Hold)
		if old.Schedule.Every() {
			k.Deadline = nil // a deadline changed in the same edit must not affect earlier due times (C-084)
		}
		if k.Anchor.After(l.Through) {
			entries = l.Passed(k)
		}
		more, _ := l.Look(k)
		entries = append(entries, more...)
	}
	reason, sentence := reconciler.ScheduleChanged, "the schedule was changed: due times count by the new one from here on"
	zoneOnly := p.onlyRules(&old)
	if zoneOnly {
		reason, sentence = reconciler.ZoneChanged, otherRules(old.Schedule, cp.Plan().Schedule, at.Go())
	}
	if !zoneOnly || !p.staysOpen(l.Open, at) {
		if e, was := l.Replace(at.Go()); was {
			entries = append(entries, e)
		}
	}
	said := events.CronStep{}
	for i := range entries {
		said.Ticks = append(said.Ticks, p.tick(&entries[i]))
	}
	cp.ledger.Through, cp.ledger.Open, cp.ledger.Hold = timeOf(l.Through), timeOf(l.Open), events.TickHold(l.Hold)
	cp.count()
	p.sayLedger(reason, sentence, said)
}

// closeLedger records what became of the remaining due times, and ends the ledger (the record of due times).
func (p *plan) closeLedger() {
	cp := p.cron
	if cp.ledger.Closed {
		return
	}
	said := events.CronStep{}
	if by := cp.Plan(); by.Err == nil && by.ZoneErr == nil {
		l := ledgerOf(&cp.ledger)
		k := p.looking(by, p.Now, cp.ledger.Hold)
		var entries []ticks.Entry
		if k.Anchor.After(l.Through) {
			entries = l.Passed(k)
		}
		more, _ := l.Look(k)
		entries = append(entries, more...)
		if e, was := l.End(ticks.Deleted); was {
			entries = append(entries, e)
		}
		for i := range entries {
			said.Ticks = append(said.Ticks, p.tick(&entries[i]))
		}
		cp.ledger.Through, cp.ledger.Open, cp.ledger.Hold = timeOf(l.Through), 0, events.NotHeld
	}
	cp.ledger.Closed = true
	p.sayLedger(reconciler.CronJobDeleted, "the CronJob is deleted: there are no more due times", said)
}

// asker returns the user who set the trigger value; "" if that trigger is no longer set.
func (p *plan) asker(value string) string {
	if t := p.cron.Seen.Trigger; t != nil && t.Value == value {
		return t.By
	}
	return ""
}

// keep stores l, the ledger (the record of due times), in the form that the log has.
func (cp *cronPlan) keep(l *ticks.Ledger) {
	cp.ledger.Through, cp.ledger.Open, cp.ledger.Hold = timeOf(l.Through), timeOf(l.Open), events.TickHold(l.Hold)
}

// tellLate records runs whose Job appeared although a read had not found it, because the create was still in flight
// then.
func (p *plan) tellLate() {
	for i := range p.cron.Late {
		if l := &p.cron.Late[i]; l.Stage == cronjob.StartThere {
			p.tellStart(l)
		}
	}
}

package cron

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	"github.com/jobledger/jobledger/reconciler"
)

// The concurrency policies other than Allow, which needs no rule.
const (
	forbid  = "Forbid"
	replace = "Replace"
)

// triggerAge is the age from which on a trigger (a user's request for a run) no longer starts a run, and a failed
// create of its Job is not repeated. Example: a trigger of 12:00:00 that is first seen at 12:01:05 is recorded as too
// late.
const triggerAge = time.Minute

// runTriggered starts the run that a user requested by an annotation (a trigger), subject to the concurrency policy.
// Each value of the annotation is handled once. If the log with an earlier start was lost, and the run's Job is not in
// status.active, the start is repeated: the create then finds the existing Job under the same name.
func (p *plan) runTriggered() {
	cp := p.cron
	t := cp.Seen.Trigger
	if t == nil || t.Value == cp.Triggered {
		return
	}
	said := events.CronStep{Trigger: t.Value}
	tick := events.Tick{First: p.Now, Last: p.Now, By: t.By}
	made := slices.ContainsFunc(cp.SortedRuns(), p.asksFor)
	switch {
	// If the Job of the run exists, and the run is recorded, there is nothing to start
	case made && !slices.ContainsFunc(cp.SortedRuns(), p.unkept):
	case !made && p.tooOld(t.Value):
		tick.Fate = events.TickTooLate
		said.Ticks = []events.Tick{tick}
		p.say(reconciler.Triggered, "a run was asked for too long ago", said)
	case !made && cp.Seen.Policy == forbid && len(cp.active) > 0:
		tick.Fate = events.TickRefused
		said.Ticks = []events.Tick{tick}
		p.say(reconciler.Triggered, "a run was asked for, and one of before runs: the policy forbids it", said)
	case !made && cp.Seen.Policy == replace && p.replaceActive():
	default:
		p.say(reconciler.Triggered, "a run was asked for", said, &events.CreateJob{Name: triggeredName(cp.Ref.Name, t.Value), Template: cp.Seen.Template, Trigger: t.Value})
		cp.stop = true
	}
}

// tooOld reports whether the trigger (a user's request for a run) with this value is older than triggerAge, or no
// longer set. Nobody expects a run of it any more.
func (p *plan) tooOld(value string) bool {
	t := p.cron.Seen.Trigger
	return t == nil || t.Value != value || p.Now.Sub(t.Asked) > triggerAge
}

// triggeredName returns the name of a triggered Job: the CronJob's name and a hash of the trigger. Example:
// report-t1a2b3c4d.
func triggeredName(cronJob, value string) string {
	h := fnv.New32a()
	h.Write([]byte(value))
	return fmt.Sprintf("%s-t%08x", cronJob, h.Sum32())
}

// startDue starts the run that is due (C-140 to C-149), and sets the time of the next evaluation (C-085).
func (p *plan) startDue() {
	cp := p.cron
	by := cp.Plan()
	now, anchor := p.Now.Go(), cp.Anchor().Go()
	// The time of the next evaluation follows from wait, and does not depend on startingDeadlineSeconds (C-072). Only
	// due does: it is the due time to start now
	wait, err := by.Schedule.Due(anchor, now)
	due := wait
	if from := schedule.Anchor(anchor, now, cp.Seen.Deadline); err == nil && !from.Equal(anchor) {
		due, err = by.Schedule.Due(from, now)
	}
	if err != nil {
		p.notice(reconciler.BadSchedule, "the schedule has no due times that can be told apart", events.Notice{
			Reason: "InvalidSchedule", Message: fmt.Sprintf("invalid schedule: %s : %s", cp.Seen.Schedule, err),
		})
		return
	}
	p.look(p.holds())
	if next := p.nextLook(wait, due); !next.IsZero() {
		p.WakeAt(timeOf(next))
	}
	if due.At.IsZero() {
		return
	}
	if due.Missed == schedule.MissedMany {
		p.notice(reconciler.ManyMissed, "more than 100 due times have passed", events.Notice{
			Reason:  "TooManyMissedTimes",
			Message: "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
		})
	}
	at := timeOf(due.At)
	name := runName(cp.Ref.Name, at)
	if at == cp.LastSchedule || p.activeName(name) || cp.pass.Tried {
		return
	}
	switch {
	case cp.Seen.Policy == forbid && len(cp.active) > 0:
		p.notice(reconciler.RunForbidden, "a Job of before runs: the policy forbids another one", events.Notice{
			Reason: "JobAlreadyActive", Message: "Not starting job because prior execution is running and concurrency policy is Forbid",
		})
	case cp.Seen.Policy == replace && p.replaceActive():
	case p.wasTaken(at):
		p.tellTaken(at)
	default:
		p.say(reconciler.RunDue, "a run is due", events.CronStep{}, &events.CreateJob{
			Name: name, Due: at, Template: cp.Seen.Template, Stamp: due.At.In(by.Zone).Format(time.RFC3339),
		})
	}
}

// nextLook returns when to evaluate the CronJob next (C-085); the zero time means never. due and wait are the newest
// due times that have passed: due only within startingDeadlineSeconds, wait also before.
func (p *plan) nextLook(wait, due schedule.Due) time.Time {
	cp := p.cron
	when, now, anchor := cp.Plan().Schedule, p.Now.Go(), cp.Anchor().Go()
	next := when.WakeAfter(anchor, now, wait, nil)
	if pace := min(cp.Settings.DuePace, time.Minute); pace > 0 {
		if span := now.Truncate(pace).Add(pace); next.Before(span) && p.startsNothing(wait, due, timeOf(next)) {
			return when.WakeFrom(anchor, span)
		}
	}
	return next
}

// startsNothing reports whether no further due time of this minute (or of the shorter time Settings.DuePace) can start
// a Job unless the CronJob or its Jobs change; a change causes an evaluation anyway. next is the next due time; wait
// and due are the newest ones that have passed, without and with startingDeadlineSeconds.
//
// All due times of one minute share one Job name (C-152), so the Job of the first blocks the others. An active Job
// counts only if the watch has shown it. Until then, and for a Job that lost its owner reference, each due time needs a
// read of the Job (C-109).
func (p *plan) startsNothing(wait, due schedule.Due, next events.Time) bool {
	cp := p.cron
	name := runName(cp.Ref.Name, next)
	switch {
	case p.shownActive(name) || p.hasRun(name):
		return true
	case due.At.IsZero(): // the deadline of each due time passes before it can start (C-084)
		return cp.Plan().Schedule.Every() && !wait.At.IsZero()
	case cp.Seen.Policy == forbid && p.shownActive(""):
		return true
	}
	// In all other cases something starts, unless the Job name is taken: this pass has tried to create the Job for an
	// earlier due time of the same minute (C-160)
	return cp.pass.Tried && timeOf(due.At) <= cp.ledger.Through && runName(cp.Ref.Name, timeOf(due.At)) == name
}

// hasRun reports whether the newest due time that has started has this Job name, and its Job has finished and still
// exists. Another Job of the CronJob with this name was started by us, but the log has lost the record. The create for
// the next due time finds such a Job and adds it to status.active (C-160).
func (p *plan) hasRun(name string) bool {
	r := p.cron.RunNamed(name)
	return r != nil && r.Finished() && runName(p.cron.Ref.Name, p.cron.LastSchedule) == name
}

// wasTaken reports whether, at the time `due`, its Job name was still taken by a finished Job of the same minute. We
// did not evaluate the CronJob at that time (C-085). The built-in controller would have found the name taken, and would
// not have started a Job for that time (C-160).
func (p *plan) wasTaken(due events.Time) bool {
	cp := p.cron
	return cp.Settings.DuePace > 0 && due <= cp.Freed && runName(cp.Ref.Name, due) == runName(cp.Ref.Name, cp.LastSchedule)
}

// tellTaken records a due time as refused, because its Job name was taken until a later one was due.
func (p *plan) tellTaken(due events.Time) {
	cp := p.cron
	if due != cp.ledger.Open {
		return // already recorded
	}
	l := ledgerOf(&cp.ledger)
	e, _ := l.End(ticks.Refused)
	t := p.tick(&e)
	t.Name = runName(cp.Ref.Name, due)
	cp.keep(&l)
	p.sayLedger(reconciler.RunRefused, anotherHasTheName, events.CronStep{Ticks: []events.Tick{t}})
}

// holds returns the reason why the open (not yet started) due time cannot start now; NotHeld if there is none.
func (p *plan) holds() events.TickHold {
	if p.cron.Seen.Policy == forbid && len(p.cron.active) > 0 {
		return events.HeldForbid
	}
	return events.NotHeld
}

// replaceActive deletes the active Jobs one by one, each after a read of it (C-147). If one Job cannot be read or
// deleted, the remaining ones stay. It reports whether there was an active Job.
func (p *plan) replaceActive() bool {
	cp := p.cron
	if len(cp.active) == 0 {
		return false
	}
	a := cp.active[0]
	command := events.Command(&events.ReadRun{Job: a.UID, Name: a.Name, Replacing: true})
	if has(cp.pass.Found, a.UID) {
		command = &events.DeleteRun{Job: a.UID, Name: a.Name, Replacing: true}
	}
	p.askFirst(reconciler.RunReplaced, "the run is to replace those of before", command)
	return true
}

// runName returns the Job name of a due time: the CronJob's name and the due time in minutes since 1970 (C-151).
// Example: "report" at 2026-01-01 00:00 UTC gives report-29453760.
func runName(cronJob string, due events.Time) string {
	return cronJob + "-" + strconv.FormatInt(due.Go().Unix()/60, 10)
}

func (p *plan) activeName(name string) bool {
	for _, a := range p.cron.active {
		if a.Name == name {
			return true
		}
	}
	return false
}

// shownActive reports whether the watch has shown an active Job called name, or any active Job if name is empty. When
// such a Job changes, the CronJob is evaluated again.
func (p *plan) shownActive(name string) bool {
	return slices.ContainsFunc(p.cron.active, func(a events.RunName) bool {
		return p.cron.Runs[a.UID] != nil && (name == "" || a.Name == name)
	})
}

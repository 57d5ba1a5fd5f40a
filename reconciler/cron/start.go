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

// The concurrency policies other than Allow.
const (
	forbid  = "Forbid"
	replace = "Replace"
)

// triggerAge limits the age of a trigger when it is first seen, and the time during which a failed create is retried.
// Example: a trigger of 12:00:00 that is first seen at 12:01:05 ends as too late.
const triggerAge = time.Minute

// runTriggered starts a manually triggered run, subject to the concurrency policy. Each value of the annotation is
// handled once. If the log of an earlier start was lost and the run is not in status.active, the run is started again:
// the create then meets the existing Job under the same name.
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
	case made && !slices.ContainsFunc(cp.SortedRuns(), p.unkept): // recorded already
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

// tooOld reports whether the trigger is older than triggerAge, so that its sender no longer waits for it.
func (p *plan) tooOld(value string) bool {
	t := p.cron.Seen.Trigger
	return t == nil || t.Value != value || p.Now.Sub(t.Asked) > triggerAge
}

// triggeredName returns the name of a triggered Job: "report" and a hash of the trigger give report-t1a2b3c4d.
func triggeredName(cronJob, value string) string {
	h := fnv.New32a()
	h.Write([]byte(value))
	return fmt.Sprintf("%s-t%08x", cronJob, h.Sum32())
}

// startDue starts the run that is due (C-140 to C-149), and sets the next wake-up (C-085).
func (p *plan) startDue() {
	cp := p.cron
	by := cp.Plan()
	now, anchor := p.Now.Go(), cp.Anchor().Go()
	wait, err := by.Schedule.Due(anchor, now) // the wake-up computation ignores the deadline (C-072)
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

// nextLook returns the next time to evaluate the CronJob (C-085); zero means never. wait is the due time computed
// without the deadline.
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

// startsNothing reports whether no further due time of this minute, or of the part of it that Settings.DuePace sets,
// can start a Job unless the CronJob or its Jobs change; such a change begins another pass. Due times of one minute
// share one Job name (C-152), so the Job of the first start blocks the others. An active Job counts only once the
// watch has shown it: until then, and for a Job that lost its owner, each due time reads it live (C-109). next is the
// next due time; wait is as in nextLook.
func (p *plan) startsNothing(wait, due schedule.Due, next events.Time) bool {
	cp := p.cron
	name := runName(cp.Ref.Name, next)
	switch {
	case p.shownActive(name) || p.hasRun(name):
		return true
	case due.At.IsZero(): // each due time is past its deadline before it can start (C-084)
		return cp.Plan().Schedule.Every() && !wait.At.IsZero()
	case cp.Seen.Policy == forbid && p.shownActive(""):
		return true
	}
	return cp.pass.Tried && timeOf(due.At) <= cp.ledger.Through && runName(cp.Ref.Name, timeOf(due.At)) == name // taken (C-160)
}

// hasRun reports whether a due time with this Job name has started, and its Job has finished and still exists. For any
// other Job of that name owned by the CronJob, the create of the next due time finds it and makes it active: the
// record of its start was lost (C-160).
func (p *plan) hasRun(name string) bool {
	r := p.cron.RunNamed(name)
	return r != nil && r.Finished() && runName(p.cron.Ref.Name, p.cron.LastSchedule) == name
}

// wasTaken reports whether due passed while a finished Job of the same minute still had the Job name. We did not look
// then (C-085); upstream would have found the name taken and not started it either (C-160).
func (p *plan) wasTaken(due events.Time) bool {
	cp := p.cron
	return cp.Settings.DuePace > 0 && due <= cp.Freed && runName(cp.Ref.Name, due) == runName(cp.Ref.Name, cp.LastSchedule)
}

// tellTaken records the fate of a due time whose Job name was taken until it was too late.
func (p *plan) tellTaken(due events.Time) {
	cp := p.cron
	if due != cp.ledger.Open {
		return // its fate is recorded
	}
	l := ledgerOf(&cp.ledger)
	e, _ := l.End(ticks.Refused)
	t := p.tick(&e)
	t.Name = runName(cp.Ref.Name, due)
	cp.keep(&l)
	p.sayLedger(reconciler.RunRefused, anotherHasTheName, events.CronStep{Ticks: []events.Tick{t}})
}

// holds returns the reason why the open due time does not start, if there is one.
func (p *plan) holds() events.TickHold {
	if p.cron.Seen.Policy == forbid && len(p.cron.active) > 0 {
		return events.HeldForbid
	}
	return events.NotHeld
}

// replaceActive deletes the active Jobs one by one, each after a live read (C-147). If one cannot be read or deleted,
// the rest stay. It reports whether any were active.
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

// shownActive reports whether the watch has shown an active Job called name, or any active Job if name is empty. Its
// next change begins a new pass.
func (p *plan) shownActive(name string) bool {
	return slices.ContainsFunc(p.cron.active, func(a events.RunName) bool {
		return p.cron.Runs[a.UID] != nil && (name == "" || a.Name == name)
	})
}

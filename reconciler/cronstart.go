package reconciler

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/ticks"
)

// The concurrency policies that differ from Allow.
const (
	forbid  = "Forbid"
	replace = "Replace"
)

// triggerAge is how old a trigger may be when it is first seen, and while an API server that fails is asked again.
const triggerAge = time.Minute

// runTriggered starts a run that was asked for, under the concurrency policy. Each value of the annotation is dealt
// with once. A run that was started by a log that is lost is started again, if it has no place in the status: its name
// is taken, by itself.
func (p *plan) runTriggered() {
	cp := p.cron
	t := cp.Seen.Trigger
	if t == nil || t.Value == cp.Triggered {
		return
	}
	said := events.CronStep{Trigger: t.Value}
	tick := events.Tick{First: p.now, Last: p.now, By: t.By}
	made := slices.ContainsFunc(cp.SortedRuns(), p.asksFor)
	switch {
	case made && !slices.ContainsFunc(cp.SortedRuns(), p.unkept): // it was told
	case !made && p.tooOld(t.Value):
		tick.Fate = events.TickTooLate
		said.Ticks = []events.Tick{tick}
		p.say(Triggered, "a run was asked for too long ago", said)
	case !made && cp.Seen.Policy == forbid && len(cp.active) > 0:
		tick.Fate = events.TickRefused
		said.Ticks = []events.Tick{tick}
		p.say(Triggered, "a run was asked for, and one of before runs: the policy forbids it", said)
	case !made && cp.Seen.Policy == replace && p.replaceActive():
	default:
		p.say(Triggered, "a run was asked for", said, &events.CreateJob{Name: triggeredName(cp.Ref.Name, t.Value), Template: cp.Seen.Template, Trigger: t.Value})
		cp.stop = true
	}
}

// tooOld reports whether a run was asked for so long ago that whoever asked does not wait for it any more.
func (p *plan) tooOld(value string) bool {
	t := p.cron.Seen.Trigger
	return t == nil || t.Value != value || p.now.Sub(t.Asked) > triggerAge
}

// triggeredName is the name of the Job of a trigger.
func triggeredName(cronJob, value string) string {
	h := fnv.New32a()
	h.Write([]byte(value))
	return fmt.Sprintf("%s-t%08x", cronJob, h.Sum32())
}

// startDue starts the run that is due (C-140 to C-149), and says when to look again (C-085).
func (p *plan) startDue() {
	cp := p.cron
	by := cp.Plan()
	now, anchor := p.now.Go(), cp.Anchor().Go()
	wait, err := by.Schedule.Due(anchor, now) // the wake-up computation knows no deadline (C-072)
	due := wait
	if from := schedule.Anchor(anchor, now, cp.Seen.Deadline); err == nil && !from.Equal(anchor) {
		due, err = by.Schedule.Due(from, now)
	}
	if err != nil {
		p.notice(BadSchedule, "the schedule has no due times that can be told apart", events.Notice{
			Reason: "InvalidSchedule", Message: fmt.Sprintf("invalid schedule: %s : %s", cp.Seen.Schedule, err),
		})
		return
	}
	p.look(p.holds())
	if next := p.nextLook(wait, due); !next.IsZero() {
		p.wake(timeOf(next))
	}
	if due.At.IsZero() {
		return
	}
	if due.Missed == schedule.MissedMany {
		p.notice(ManyMissed, "more than 100 due times have passed", events.Notice{
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
		p.notice(RunForbidden, "a Job of before runs: the policy forbids another one", events.Notice{
			Reason: "JobAlreadyActive", Message: "Not starting job because prior execution is running and concurrency policy is Forbid",
		})
	case cp.Seen.Policy == replace && p.replaceActive():
	case p.wasTaken(at):
		p.tellTaken(at)
	default:
		p.say(RunDue, "a run is due", events.CronStep{}, &events.CreateJob{
			Name: name, Due: at, Template: cp.Seen.Template, Stamp: due.At.In(by.Zone).Format(time.RFC3339),
		})
	}
}

// nextLook is when to look at the CronJob again (C-085); zero for never. wait is what is due when the deadline is left
// aside.
func (p *plan) nextLook(wait, due schedule.Due) time.Time {
	cp := p.cron
	when, now, anchor := cp.Plan().Schedule, p.now.Go(), cp.Anchor().Go()
	next := when.WakeAfter(anchor, now, wait, nil)
	if pace := min(cp.Settings.DuePace, time.Minute); pace > 0 {
		if span := now.Truncate(pace).Add(pace); next.Before(span) && p.startsNothing(wait, due, timeOf(next)) {
			return when.WakeFrom(anchor, span)
		}
	}
	return next
}

// startsNothing reports whether no due time of this minute, or of a part of it, starts a Job any more, unless something
// happens: that begins another pass. They share the name of one Job (C-152), so the Job of one that has started keeps
// the others from starting. That of an active one holds once the watch has shown it: until then it is read at each due
// time (C-109), as is one that has lost its owner. next is the next one, and wait as in nextLook.
func (p *plan) startsNothing(wait, due schedule.Due, next events.Time) bool {
	cp := p.cron
	name := runName(cp.Ref.Name, next)
	switch {
	case p.shownActive(name) || p.hasRun(name):
		return true
	case due.At.IsZero(): // each is over before it can start (C-084)
		return cp.Plan().Schedule.Every() && !wait.At.IsZero()
	case cp.Seen.Policy == forbid && p.shownActive(""):
		return true
	}
	return cp.pass.Tried && timeOf(due.At) <= cp.ledger.Through && runName(cp.Ref.Name, timeOf(due.At)) == name // something else has the name (C-160)
}

// hasRun reports whether a due time of a name has started, and its Job has ended and still has the name. Any other Job
// of that name that is the CronJob's is found by the create of the next due time, and is active from then on: the
// record of its start was lost (C-160).
func (p *plan) hasRun(name string) bool {
	r := p.cron.RunNamed(name)
	return r != nil && r.Finished() && runName(p.cron.Ref.Name, p.cron.LastSchedule) == name
}

// wasTaken reports whether a due time has passed while the Job of another one of its minute, which had ended, had the
// name of its Job. It was not looked at then (C-085), and upstream, which found the name taken, does not start it
// either (C-160).
func (p *plan) wasTaken(due events.Time) bool {
	cp := p.cron
	return cp.Settings.DuePace > 0 && due <= cp.Freed && runName(cp.Ref.Name, due) == runName(cp.Ref.Name, cp.LastSchedule)
}

// tellTaken is the fate of a due time whose name another one's Job had until it was too late.
func (p *plan) tellTaken(due events.Time) {
	cp := p.cron
	if due != cp.ledger.Open {
		return // it has its fate
	}
	l := ledgerOf(&cp.ledger)
	e, _ := l.End(ticks.Refused)
	t := p.tick(&e)
	t.Name = runName(cp.Ref.Name, due)
	cp.keep(&l)
	p.sayLedger(RunRefused, anotherHasTheName, events.CronStep{Ticks: []events.Tick{t}})
}

// holds is what holds a due time back.
func (p *plan) holds() events.TickHold {
	if p.cron.Seen.Policy == forbid && len(p.cron.active) > 0 {
		return events.HeldForbid
	}
	return events.NotHeld
}

// replaceActive deletes the Jobs of before one after the other, each after a live read (C-147): where one cannot be
// read or deleted, the others stay. It reports whether there are any.
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
	p.askFirst(RunReplaced, "the run is to replace those of before", command)
	return true
}

// runName is the name of the Job of a due time (C-151).
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

// shownActive reports whether a Job is active that the watch has shown: of a name, or any for an empty one. What becomes of
// it begins a pass.
func (p *plan) shownActive(name string) bool {
	return slices.ContainsFunc(p.cron.active, func(a events.RunName) bool {
		return p.cron.Runs[a.UID] != nil && (name == "" || a.Name == name)
	})
}

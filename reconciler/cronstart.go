package reconciler

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/schedule"
)

// The concurrency policies that differ from Allow.
const (
	forbid  = "Forbid"
	replace = "Replace"
)

// triggerAge is how old a trigger may be when it is first seen.
const triggerAge = time.Minute

// runTriggered starts a run that was asked for, under the concurrency policy. Each value of the annotation is dealt with once.
func (p *plan) runTriggered() {
	cp := p.cron
	t := cp.Seen.Trigger
	if t == nil || t.Value == cp.Triggered {
		return
	}
	said := events.CronStep{Trigger: t.Value}
	tick := events.Tick{First: p.now, Last: p.now, By: t.By}
	switch {
	case p.now.Sub(t.Asked) > triggerAge:
		tick.Fate = events.TickTooLate
		said.Ticks = []events.Tick{tick}
		p.say(Triggered, "a run was asked for too long ago", said)
	case cp.Seen.Policy == forbid && len(cp.active) > 0:
		tick.Fate = events.TickRefused
		said.Ticks = []events.Tick{tick}
		p.say(Triggered, "a run was asked for, and one of before runs: the policy forbids it", said)
	case cp.Seen.Policy == replace && p.replaceActive():
	default:
		p.say(Triggered, "a run was asked for", said, &events.CreateJob{Name: triggeredName(cp.Ref.Name, t.Value), Template: cp.Seen.Template, Trigger: t.Value})
		cp.stop = true
	}
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
	due, err := by.Schedule.Due(schedule.Anchor(anchor, now, cp.Seen.Deadline), now)
	if err == nil && cp.Seen.Deadline != nil { // the wake-up computation knows no deadline (C-072)
		_, err = by.Schedule.Due(anchor, now)
	}
	if err != nil {
		p.notice(BadSchedule, "the schedule has no due times that can be told apart", events.Notice{
			Reason: "InvalidSchedule", Message: fmt.Sprintf("invalid schedule: %s : %s", cp.Seen.Schedule, err),
		})
		return
	}
	p.look(p.holds())
	if at := by.Schedule.Wake(anchor, now); !at.IsZero() {
		p.wake(timeOf(at))
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
	default:
		p.say(RunDue, "a run is due", events.CronStep{}, &events.CreateJob{
			Name: name, Due: at, Template: cp.Seen.Template, Stamp: due.At.In(by.Zone).Format(time.RFC3339),
		})
	}
}

// holds is what holds a due time back.
func (p *plan) holds() events.TickHold {
	if p.cron.Seen.Policy == forbid && len(p.cron.active) > 0 {
		return events.HeldForbid
	}
	return events.NotHeld
}

// replaceActive deletes the Jobs of before, each after a live read (C-147). It reports whether there are any.
func (p *plan) replaceActive() bool {
	cp := p.cron
	var reads, deletes []events.Command
	for _, a := range cp.active {
		if has(cp.pass.Found, a.UID) {
			deletes = append(deletes, &events.DeleteRun{Job: a.UID, Name: a.Name, Replacing: true})
		} else {
			reads = append(reads, &events.ReadRun{Job: a.UID, Name: a.Name, Replacing: true})
		}
	}
	if len(reads) > 0 {
		deletes = reads
	}
	p.askFirst(RunReplaced, "the run is to replace those of before", deletes...)
	return len(deletes) > 0
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

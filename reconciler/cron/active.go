package cron

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/reconciler"
)

// confirmActive requests a read of the CronJob when one of its Jobs runs but is missing from status.active, unless this
// pass has read the CronJob already (C-103).
func (p *plan) confirmActive() {
	if len(p.unexpected()) > 0 && !p.cron.pass.Read {
		p.askFirst(reconciler.ListUncertain, "the list of active Jobs does not fit what was seen: read first", &events.ReadCronJob{})
	}
}

// unexpected returns the CronJob's running Jobs that are not in status.active. It leaves out Jobs that this controller
// has deleted, even before the watch shows their deletion (C-113).
func (p *plan) unexpected() (out []*cronjob.Run) {
	for _, r := range p.cron.SortedRuns() {
		if !r.Finished() && !r.Vanished() && !p.cron.IsActive(r.Job) {
			out = append(out, r)
		}
	}
	return out
}

// tellUnexpected emits a Kubernetes Event for each running Job that is missing from status.active. It does not add the
// Job to the list (C-103).
func (p *plan) tellUnexpected() {
	var notices []events.Notice
	for _, r := range p.unexpected() {
		notices = append(notices, events.Notice{
			Reason: "UnexpectedJob", Message: "Saw a job that the controller did not create or forgot: " + r.Name,
		})
	}
	p.notice(reconciler.JobUnexpected, "Jobs of the CronJob run that it did not start", notices...)
}

// leaveActive removes finished Jobs from status.active, each with a Kubernetes Event (C-105).
func (p *plan) leaveActive() {
	var said events.CronStep
	for _, r := range p.cron.SortedRuns() { // same order as the built-in's list of Jobs; entries 6 and 7 of C-201
		if r.Finished() && p.cron.IsActive(r.Job) {
			said.Left = append(said.Left, r.Job)
			said.Notices = append(said.Notices, events.Notice{
				Reason: "SawCompletedJob", Message: fmt.Sprintf("Saw completed job: %s, condition: %v", r.Name, r.Result),
			})
		}
	}
	p.say(reconciler.JobEnded, "Jobs have ended", said)
}

// findMissing removes deleted Jobs from status.active. A listed Job that the watch has not shown is read first (C-109).
func (p *plan) findMissing() {
	p.leaveMissing()
	cp := p.cron
	var reads []events.Command
	for _, a := range cp.active {
		if cp.Runs[a.UID] == nil && !has(cp.pass.Found, a.UID) {
			reads = append(reads, &events.ReadRun{Job: a.UID, Name: a.Name})
		}
	}
	p.askFirst(reconciler.ListUncertain, "the list of active Jobs has some that nothing shows: read them first", reads...)
}

// leaveMissing removes Jobs from status.active that a read did not find.
func (p *plan) leaveMissing() {
	cp := p.cron
	var said events.CronStep
	for _, a := range cp.active {
		if cp.Runs[a.UID] == nil && has(cp.pass.Missing, a.UID) {
			said.Left = append(said.Left, a.UID)
			said.Notices = append(said.Notices, events.Notice{Reason: "MissingJob", Message: "Active job went missing: " + a.Name})
		}
	}
	p.say(reconciler.JobMissing, "Jobs are gone", said)
}

// tellManual records, in the CronJob's record of its runs, the Jobs that a user made by hand. The Job of a trigger (a
// user's request for a run, by annotation) has the same annotation, but is recorded as triggered: tellManual skips it
// while its start is in progress, and recognizes it by name if the log with its start was lost.
func (p *plan) tellManual() {
	var said events.CronStep
	what := "a Job of it was made by hand"
	for _, r := range append(slices.Clone(p.cron.SortedRuns()), p.cron.Sight.Departed...) {
		tick := events.Tick{First: r.Created, Last: r.Created, Fate: events.TickManual, Job: r.Job, Name: r.Name, By: r.By}
		switch s := p.cron.Start; {
		case !r.Manual, r.Told, s != nil && s.Name == r.Name:
			continue
		case p.unkept(r):
			// Skip this Job here: when the triggered run is started, its create finds the Job and adds it to
			// status.active
			continue
		case p.asksFor(r):
			tick.Fate, tick.By, said.Trigger = events.TickTriggered, p.cron.Seen.Trigger.By, p.cron.Seen.Trigger.Value
			what = "a run was asked for, and its Job is there"
		}
		said.Ticks = append(said.Ticks, tick)
	}
	p.say(reconciler.MadeByHand, what, said)
}

// asksFor reports whether Job r is the run of a trigger (a user's request for a run) that has not been handled.
func (p *plan) asksFor(r *cronjob.Run) bool {
	t := p.cron.Seen.Trigger
	return t != nil && t.Value != p.cron.Triggered && r.Name == triggeredName(p.cron.Ref.Name, t.Value)
}

// unkept reports whether Job r was started by a trigger (a user's request for a run) that is not recorded as handled,
// still runs, and is missing from status.active.
func (p *plan) unkept(r *cronjob.Run) bool {
	return p.asksFor(r) && !r.Finished() && !p.cron.IsActive(r.Job)
}

// success returns the completion time of the newest successful Job (C-107).
func (p *plan) success() events.Time {
	at := p.cron.LastSuccess
	for _, r := range p.cron.SortedRuns() {
		if r.Succeeded {
			at = max(at, r.Completed)
		}
	}
	return at
}

// writeCronStatus writes the status if it differs from the published one, once in each pass and at its end (C-171). A
// pass is what one reconcile of the built-in controller does.
func (p *plan) writeCronStatus() {
	cp := p.cron
	success := p.success()
	same := cp.LastSchedule == cp.Seen.LastSchedule && success == cp.Seen.LastSuccess && slices.Equal(cp.active, cp.Seen.Active)
	switch {
	case same, cp.asked, cp.pass.Unwritten:
	case cp.Look:
		p.say(reconciler.StatusStale, "the CronJob is another one by now: read it first", events.CronStep{}, &events.ReadCronJob{})
	default:
		p.say(reconciler.StatusBehind, "the status is to say that "+areActive(len(cp.active)), events.CronStep{}, &events.WriteCronStatus{
			Base: cp.Seen.Version, Active: cp.active, LastSchedule: cp.LastSchedule, LastSuccess: success,
		})
	}
}

func areActive(n int) string {
	switch n {
	case 0:
		return "no Job is active"
	case 1:
		return "1 Job is active"
	}
	return fmt.Sprintf("%d Jobs are active", n)
}

// SortedRuns returns the CronJob's Jobs, sorted by name. It caches the list, since no Job changes during a decision.
func (cp *cronPlan) SortedRuns() []*cronjob.Run {
	if cp.runs == nil {
		cp.runs = cp.CronJob.SortedRuns()
	}
	return cp.runs
}

package reconciler

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// confirmActive reads what the list of active Jobs is to be compared with, where it does not fit: the CronJob itself when one of its Jobs
// runs that the list does not have (C-103), a Job that the list has and nothing shows (C-109).
func (p *plan) confirmActive() {
	cp := p.cron
	var commands []events.Command
	if len(p.unexpected()) > 0 && !cp.pass.Read {
		commands = append(commands, &events.ReadCronJob{})
	}
	for _, a := range cp.active {
		if cp.Runs[a.UID] == nil && !has(cp.pass.Found, a.UID) && !has(cp.pass.Missing, a.UID) {
			commands = append(commands, &events.ReadRun{Job: a.UID, Name: a.Name})
		}
	}
	p.askFirst(ListUncertain, "the list of active Jobs does not fit what was seen: read first", commands...)
}

// unexpected are the CronJob's Jobs that run and that the list of active ones does not have.
func (p *plan) unexpected() (out []*projector.Run) {
	for _, r := range p.cron.SortedRuns() {
		if !r.Finished() && !p.cron.IsActive(r.Job) {
			out = append(out, r)
		}
	}
	return out
}

// tellUnexpected says that Jobs run which are not in the list. They do not come into it (C-103).
func (p *plan) tellUnexpected() {
	var notices []events.Notice
	for _, r := range p.unexpected() {
		notices = append(notices, events.Notice{
			Reason: "UnexpectedJob", Message: "Saw a job that the controller did not create or forgot: " + r.Name,
		})
	}
	p.notice(JobUnexpected, "Jobs of the CronJob run that it did not start", notices...)
}

// leaveActive takes Jobs off the list that have finished (C-105), and those that are gone (C-109).
func (p *plan) leaveActive() {
	cp := p.cron
	var finished, gone events.CronStep
	for _, r := range cp.SortedRuns() { // those of C-201, 6 and 7, come by Job
		if r.Finished() && cp.IsActive(r.Job) {
			finished.Left = append(finished.Left, r.Job)
			finished.Notices = append(finished.Notices, events.Notice{
				Reason: "SawCompletedJob", Message: fmt.Sprintf("Saw completed job: %s, condition: %v", r.Name, r.Result),
			})
		}
	}
	for _, a := range cp.active {
		if cp.Runs[a.UID] == nil && has(cp.pass.Missing, a.UID) {
			gone.Left = append(gone.Left, a.UID)
			gone.Notices = append(gone.Notices, events.Notice{Reason: "MissingJob", Message: "Active job went missing: " + a.Name})
		}
	}
	p.say(JobEnded, "Jobs have ended", finished)
	p.say(JobMissing, "Jobs are gone", gone)
}

// tellManual puts into the ledger what somebody made by hand.
func (p *plan) tellManual() {
	var said events.CronStep
	for _, r := range p.cron.SortedRuns() {
		if r.Manual && !r.Told {
			said.Ticks = append(said.Ticks, events.Tick{
				First: r.Created, Last: r.Created, Fate: events.TickManual, Job: r.Job, Name: r.Name, By: r.By,
			})
		}
	}
	p.say(MadeByHand, "a Job of it was made by hand", said)
}

// success is the newest completion of a Job that succeeded (C-107).
func (p *plan) success() events.Time {
	at := p.cron.LastSuccess
	for _, r := range p.cron.SortedRuns() {
		if r.Succeeded {
			at = max(at, r.Completed)
		}
	}
	return at
}

// writeCronStatus writes the status when it is to say something else than it does: once in a pass, at its end (C-171).
func (p *plan) writeCronStatus() {
	cp := p.cron
	success := p.success()
	same := cp.LastSchedule == cp.Seen.LastSchedule && success == cp.Seen.LastSuccess && slices.Equal(cp.active, cp.Seen.Active)
	switch {
	case same, cp.asked, cp.pass.Unwritten, cp.pass.Over && cp.Start != nil && cp.Start.Stage == projector.StartUnknown:
	case cp.Look:
		p.say(StatusStale, "the CronJob is another one by now: read it first", events.CronStep{}, &events.ReadCronJob{})
	default:
		p.say(StatusBehind, fmt.Sprintf("the status is to say that %d Jobs are active", len(cp.active)), events.CronStep{}, &events.WriteCronStatus{
			Base: cp.Seen.Version, Active: cp.active, LastSchedule: cp.LastSchedule, LastSuccess: success,
		})
	}
}

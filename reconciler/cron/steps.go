package cron

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/reconciler"
)

// say adds a step to the decision: reason, sentence for users, what became of due times (said), and commands. A step
// without outcomes and commands is dropped.
func (p *plan) say(reason events.Reason, sentence string, said events.CronStep, commands ...events.Command) {
	cp := p.cron
	step := events.Step{Stage: p.Stage, Rule: p.Rule, Reason: reason, Sentence: sentence, Commands: commands}
	if len(said.Ticks)+len(said.Left)+len(said.Notices) > 0 || said.Ledger != nil || said.Trigger != "" {
		step.Cron = &said
	}
	if step.Cron == nil && len(commands) == 0 {
		return
	}
	cp.asked = cp.asked || len(commands) > 0
	if len(said.Left) > 0 {
		cp.active = events.WithoutRuns(cp.active, said.Left)
	}
	p.Decision.Steps = append(p.Decision.Steps, step)
}

// notice adds Kubernetes Events (notices) to the decision, with the reason and sentence of the step. In each pass (what
// one reconcile does) it does so once per Event reason.
func (p *plan) notice(reason events.Reason, sentence string, notices ...events.Notice) {
	if len(notices) == 0 || slices.Contains(p.cron.pass.Told, notices[0].Reason) {
		return
	}
	p.say(reason, sentence, events.CronStep{Notices: notices})
}

// askFirst adds commands to the decision, and ends the pass (what one reconcile does) until their results are recorded.
func (p *plan) askFirst(reason events.Reason, sentence string, commands ...events.Command) {
	if len(commands) == 0 {
		return
	}
	p.say(reason, sentence, events.CronStep{}, commands...)
	p.cron.stop = true
}

// await ends the decision if a command of the CronJob is in flight, or if the CronJob object has not been seen.
func (p *plan) await() { p.Over = p.cron.Busy() || !p.cron.Known() }

// concludeCron records what became of the last due times of a CronJob that no longer exists.
func (p *plan) concludeCron() {
	if p.cron.Gone {
		if s := p.cron.Start; s != nil && (s.Stage == cronjob.StartThere || s.Stage == cronjob.StartAnother) {
			p.startedRun()
		}
		p.tellLate()
		p.replaceSchedule()
		p.closeLedger()
		p.Over = true
	}
}

// startedRun records whether the run has started that an earlier decision of this pass (what one reconcile does) began.
// If that is not known, it requests a read.
func (p *plan) startedRun() {
	cp := p.cron
	s := cp.Start
	if s == nil {
		return
	}
	switch s.Stage {
	case cronjob.StartUnknown, cronjob.StartTaken:
		if !cp.pass.Over {
			p.askFirst(reconciler.RunUnknown, "it is unknown whether the Job is there: look for it", &events.ReadRun{Name: s.Name})
		}
	case cronjob.StartThere:
		p.tellStart(s)
	case cronjob.StartForeign, cronjob.StartAnother:
		p.tellRefused(s)
	case cronjob.StartMissing, cronjob.StartLater:
		if cp.Seen.Deleted != 0 || s.Stage == cronjob.StartLater && p.tooOld(s.Trigger) {
			p.tellRefused(s)
			return
		}
		create := s.CreateJob
		create.Template = cp.Seen.Template
		p.askFirst(reconciler.Triggered, "the run that was asked for was not made: ask again", &create)
	case cronjob.StartRefused:
		if s.Trigger != "" {
			p.tellRefused(s)
		}
	case cronjob.StartAsked:
	}
}

// backOff ends the pass (what one reconcile does) while the CronJob must wait after an error. The status is still
// written.
func (p *plan) backOff() {
	cp := p.cron
	switch {
	case !cp.pass.Over:
	case p.WakeAt(cp.Retry().Until):
		if s := cp.Start; s != nil && s.Stage == cronjob.StartRefused && s.Due != 0 {
			p.hold(events.HeldNoCreate)
		}
		p.leaveMissing() // still remove the Jobs that reads did not find: only some of the reads may have failed
		cp.stop = true
	default:
		cp.pass = cronjob.CronPass{}
	}
}

// awaitEdited delays the use of a changed schedule until its next due time, or until the wake-up that the old schedule
// had set (C-089, C-093).
func (p *plan) awaitEdited() {
	cp := p.cron
	if cp.Edited == 0 {
		return
	}
	if cp.Plan().Err != nil {
		p.notice(reconciler.BadSchedule, "the schedule that was set cannot be read: nothing is done", events.Notice{
			Reason: "UnParseableCronJobSchedule", Message: "unparseable schedule for cronjob: " + cp.Seen.Schedule,
		})
	}
	cp.stop = cp.Pending == 0 || p.WakeAt(cp.Pending)
}

func has(all []types.UID, uid types.UID) bool { return slices.Contains(all, uid) }

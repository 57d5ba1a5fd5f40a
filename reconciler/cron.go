package reconciler

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// cronPlan is what the stages of a decision about a CronJob share. It begins as the CronJob is.
type cronPlan struct {
	*projector.CronJob
	pass   projector.CronPass
	ledger events.TickLedger
	since  events.Time // the run that was started last, as the ledger tells; 0 for not known
	active []events.RunName
	runs   []*projector.Run
	asked  bool // a command has been asked for
	stop   bool // nothing more is done in this pass, but that the status is written
}

// unlessStopped asks rules only while the pass goes on.
func unlessStopped(rules []rule) func(*plan) {
	return func(p *plan) {
		for _, r := range rules {
			if p.cron.stop || p.over {
				return
			}
			p.rule = r.name
			r.ask(p)
		}
	}
}

// say adds a step about a CronJob. One that says nothing and asks for nothing is left out.
func (p *plan) say(reason events.Reason, sentence string, said events.CronStep, commands ...events.Command) {
	cp := p.cron
	step := events.Step{Stage: p.stage, Rule: p.rule, Reason: reason, Sentence: sentence, Commands: commands}
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
	p.decision.Steps = append(p.decision.Steps, step)
}

// notice says a Kubernetes Event, once in a pass.
func (p *plan) notice(reason events.Reason, sentence string, notices ...events.Notice) {
	if len(notices) == 0 || slices.Contains(p.cron.pass.Told, notices[0].Reason) {
		return
	}
	p.say(reason, sentence, events.CronStep{Notices: notices})
}

// askFirst asks for commands of which the end is awaited before the pass goes on.
func (p *plan) askFirst(reason events.Reason, sentence string, commands ...events.Command) {
	if len(commands) == 0 {
		return
	}
	p.say(reason, sentence, events.CronStep{}, commands...)
	p.cron.stop = true
}

// await ends the decision while a command of the CronJob is on its way: what it finds is a part of the pass.
func (p *plan) await() { p.over = p.cron.Busy() || !p.cron.Known() }

// concludeCron ends the account of a CronJob that is gone.
func (p *plan) concludeCron() {
	if p.cron.Gone {
		if s := p.cron.Start; s != nil && (s.Stage == projector.StartThere || s.Stage == projector.StartAnother) {
			p.startedRun()
		}
		p.tellLate()
		p.replaceSchedule()
		p.closeLedger()
		p.over = true
	}
}

// startedRun tells what came of a run that was to start.
func (p *plan) startedRun() {
	cp := p.cron
	s := cp.Start
	if s == nil {
		return
	}
	switch s.Stage {
	case projector.StartUnknown, projector.StartTaken:
		if !cp.pass.Over {
			p.askFirst(RunUnknown, "it is unknown whether the Job is there: look for it", &events.ReadRun{Name: s.Name})
		}
	case projector.StartThere:
		p.tellStart(s)
	case projector.StartForeign, projector.StartAnother:
		p.tellRefused(s)
	case projector.StartMissing, projector.StartLater:
		if cp.Seen.Deleted != 0 || s.Stage == projector.StartLater && p.tooOld(s.Trigger) {
			p.tellRefused(s)
			return
		}
		create := s.CreateJob
		create.Template = cp.Seen.Template
		p.askFirst(Triggered, "the run that was asked for was not made: ask again", &create)
	case projector.StartRefused:
		if s.Trigger != "" {
			p.tellRefused(s)
		}
	case projector.StartAsked:
	}
}

// backOff waits after an error. The status is written all the same.
func (p *plan) backOff() {
	cp := p.cron
	switch {
	case !cp.pass.Over:
	case p.wake(cp.Retry().Until):
		if s := cp.Start; s != nil && s.Stage == projector.StartRefused && s.Due != 0 {
			p.hold(events.HeldNoCreate)
		}
		p.leaveMissing() // one of some reads has failed
		cp.stop = true
	default:
		cp.pass = projector.CronPass{}
	}
}

// awaitEdited lets a changed schedule wait for its next due time, or for what was waited for before (C-089, C-093).
func (p *plan) awaitEdited() {
	cp := p.cron
	if cp.Edited == 0 {
		return
	}
	if cp.Plan().Err != nil {
		p.notice(BadSchedule, "the schedule that was set cannot be read: nothing is done", events.Notice{
			Reason: "UnParseableCronJobSchedule", Message: "unparseable schedule for cronjob: " + cp.Seen.Schedule,
		})
	}
	cp.stop = cp.Pending == 0 || p.wake(cp.Pending)
}

func has(all []types.UID, uid types.UID) bool { return slices.Contains(all, uid) }

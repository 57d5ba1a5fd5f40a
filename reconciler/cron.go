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
	began  bool // the ledger is one that the log has, or is to have
	active []events.RunName
	asked  bool // a command has been asked for
	stop   bool // nothing more is done in this pass, but that the status is written
}

func newCronPlan(c *projector.CronJob) *cronPlan {
	cp := &cronPlan{CronJob: c, pass: c.Pass, ledger: c.Ledger, began: c.Counting, active: slices.Clone(c.Active)}
	if !c.Counting {
		cp.ledger = events.TickLedger{Through: c.Anchor()}
		cp.count()
	}
	return cp
}

// count lets the ledger count by the schedule as it is now.
func (cp *cronPlan) count() {
	l := &cp.ledger
	l.Schedule, l.TimeZone, l.Zone = cp.Seen.Schedule, cp.Seen.TimeZone, cp.Plan().Hash
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
	for _, uid := range said.Left {
		cp.active = slices.DeleteFunc(cp.active, func(r events.RunName) bool { return r.UID == uid })
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
	case projector.StartForeign:
		p.tellRefused(s)
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
		if s := cp.Start; s != nil && s.Stage == projector.StartRefused && s.Due != 0 && cp.began {
			p.hold(events.HeldNoCreate)
		}
		cp.stop = true
	default:
		cp.pass = projector.CronPass{}
	}
}

// awaitEdited lets a changed schedule wait for its next due time (C-093).
func (p *plan) awaitEdited() {
	cp := p.cron
	if cp.Edited == 0 {
		return
	}
	plan := cp.Plan()
	if plan.Err != nil {
		p.notice(BadSchedule, "the schedule that was set cannot be read: nothing is done", events.Notice{
			Reason: "UnParseableCronJobSchedule", Message: "unparseable schedule for cronjob: " + cp.Seen.Schedule,
		})
		cp.stop = true
		return
	}
	if at := plan.Schedule.Wake(cp.Anchor().Go(), cp.Edited.Go()); at.IsZero() || p.wake(timeOf(at)) {
		cp.stop = true
	}
}

func has(all []types.UID, uid types.UID) bool { return slices.Contains(all, uid) }

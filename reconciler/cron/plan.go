package cron

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// Decide returns what to do for CronJob c at time now, and why.
func Decide(c *projector.CronJob, now events.Time) reconciler.Decision {
	p := &plan{Draft: reconciler.NewDraft(now, false), cron: newCronPlan(c)}
	for _, stage := range stagesOf(c) {
		p.Stage = stage.name
		if stage.ask(p); p.Over {
			break
		}
	}
	return p.Decision
}

// plan is a decision about a CronJob while the stages (groups of rules) make it. Each stage reads what earlier ones
// found.
type plan struct {
	reconciler.Draft
	cron *cronPlan // the CronJob under decision
}

// cronPlan is the state that the stages of one CronJob decision share. It starts as a copy of what is known of the
// CronJob, so that the decision does not change that.
type cronPlan struct {
	*projector.CronJob
	pass   cronjob.CronPass
	ledger events.TickLedger
	since  events.Time // due time of the newest start that is recorded; 0 if unknown
	active []events.RunName
	runs   []*cronjob.Run
	asked  bool // the decision has a command already
	stop   bool // skip all later rules except the status write
}

func newCronPlan(c *projector.CronJob) *cronPlan {
	return &cronPlan{CronJob: c, pass: c.Pass, ledger: c.Ledger, since: c.Sight.Since, active: c.Active}
}

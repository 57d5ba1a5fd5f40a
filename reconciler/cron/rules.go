package cron

import "github.com/jobledger/jobledger/projector"

// stage is a named part of a decision: ask runs its rules. The log records the names of stages and rules with each
// step, so a name never changes.
type stage struct {
	name string
	ask  func(*plan)
}

// rule is one reason to act: a function that adds steps, sets a time to wait for, or does nothing.
type rule struct {
	name string
	ask  func(*plan)
}

// cronJob: the stages of a CronJob. One reconcile of the built-in controller is several decisions here. Each decision
// asks for what the next one needs, in the order of the built-in controller (C-100).
var cronJob = []stage{
	{"pass", unlessStopped(passRules)},
	{"history", unlessStopped(historyRules)},
	{"active", unlessStopped(activeRules)},
	{"gates", unlessStopped(gateRules)},
	{"start", unlessStopped(startRules)},
	{"status", each(cronStatusRules)},
}

// observedCronJob: the only stage of a CronJob that another controller runs. It issues no commands; it records what
// became of due times.
var observedCronJob = []stage{
	{"observed", unlessStopped(observedRules)},
}

func stagesOf(c *projector.CronJob) []stage {
	switch {
	case !c.Settings.CronJobs:
		return nil
	case c.Observed():
		return observedCronJob
	}
	return cronJob
}

// each returns a stage that runs every rule of a list, in order.
func each(rules []rule) func(*plan) {
	return func(p *plan) {
		for _, r := range rules {
			p.Rule = r.name
			r.ask(p)
		}
	}
}

// unlessStopped returns a stage that runs the rules in order, until one of them ends the pass (what one reconcile
// does).
func unlessStopped(rules []rule) func(*plan) {
	return func(p *plan) {
		for _, r := range rules {
			if p.cron.stop || p.Over {
				return
			}
			p.Rule = r.name
			r.ask(p)
		}
	}
}

// passRules decide whether a pass (one reconcile) continues, and record the outcome of the run that it began. They run
// in order until one of them stops the pass.
var passRules = []rule{
	{"await", (*plan).await},              // a command is in flight
	{"elsewhere", (*plan).tellElsewhere},  // another controller has started a run
	{"gone", (*plan).concludeCron},        // the CronJob is deleted: record what became of its last due times
	{"backOff", (*plan).backOff},          // something failed (C-190)
	{"started", (*plan).startedRun},       // the run has started, failed to start, or has an unknown outcome
	{"late", (*plan).tellLate},            // the Job of a run appeared after a read had not found it
	{"manual", (*plan).tellManual},        // Jobs made by hand are recorded before the history limits may delete them
	{"replaced", (*plan).replaceSchedule}, // the schedule was changed
	{"edited", (*plan).awaitEdited},       // a changed schedule waits for its next due time (C-093)
}

// historyRules delete finished Jobs beyond the history limits (C-120 to C-127).
var historyRules = []rule{
	{"limits", (*plan).keepHistory}, // more finished Jobs than the limits keep
}

// activeRules maintain status.active (C-101 to C-112).
var activeRules = []rule{
	{"confirm", (*plan).confirmActive},     // a running Job is missing from the list: read the CronJob first
	{"unexpected", (*plan).tellUnexpected}, // a running Job is missing from the list
	{"ended", (*plan).leaveActive},         // a listed Job has finished
	{"missing", (*plan).findMissing},       // a listed Job is gone, or no watch shows it
}

// gateRules end a pass (one reconcile) before a run starts, in the order of C-131. A triggered run passes all but the
// first.
var gateRules = []rule{
	{"deleted", (*plan).gateDeleted},
	{"triggered", (*plan).runTriggered},
	{"zone", (*plan).gateZone},
	{"suspended", (*plan).gateSuspended},
	{"schedule", (*plan).gateSchedule},
}

// startRules start the run of a due time (C-140 to C-149).
var startRules = []rule{
	{"due", (*plan).startDue},
}

// observedRules apply to a CronJob that another controller runs. They run in order, unless one stops the pass.
var observedRules = []rule{
	{"await", (*plan).await},       // the CronJob object has not been seen
	{"manual", (*plan).tellManual}, // Jobs made by hand
	{"ours", (*plan).tellOurs},     // a run that this controller started before is not recorded yet
	{"seen", (*plan).tellSeen},     // another controller has started a run
	{"gone", (*plan).closeSeen},    // the CronJob is deleted: record what became of its last due times
}

// cronStatusRules write the CronJob's status (C-170 to C-177).
var cronStatusRules = []rule{
	{"write", (*plan).writeCronStatus},
}

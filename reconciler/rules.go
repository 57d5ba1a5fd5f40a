package reconciler

import (
	"slices"

	"github.com/jobledger/jobledger/projector"
)

// stage is one clause of a decision. The names of stages and rules are those that the log records with each step. They
// are for ever.
type stage struct {
	name string
	ask  func(*plan)
}

// rule is one reason to do something. It yields steps, or a time to wait for, or nothing.
type rule struct {
	name string
	ask  func(*plan)
}

// The stages of a Job that is ours and goes on.
var unfinished = []stage{
	{"claim", each(claimRules)},
	{"gang", each(gangRules)},
	{"outcome", (*plan).decideOutcome},
	{"pods", each(podRules)},
	{"status", each(statusRules)},
	{"release", each(releaseRules)},
}

// The stages of a finished Job: it has finalizers left to remove (J-008), and is deleted when its TTL has passed.
var finished = slices.Concat(over, retired)

// The stages of what only has finalizers left to remove: pods without an owner (J-098).
var over = []stage{
	{"pods", each([]rule{{"giveUp", (*plan).giveUp}})},
	{"release", each(releaseRules)},
}

// The stages of a deleted Job: the removals that it began go on.
var gone = []stage{
	{"pods", each(gonePodRules)},
	{"release", each(releaseRules)},
}

// The stage of a placeholder: pods that name a Job which has not been seen. They keep their finalizers until it is
// found, or found gone.
var unseen = []stage{
	{"claim", each([]rule{{"findOwner", (*plan).findOwner}})},
}

// each asks every rule of a list, in order.
func each(rules []rule) func(*plan) {
	return func(p *plan) {
		for _, r := range rules {
			p.rule = r.name
			r.ask(p)
		}
	}
}

// The stage of a retired Job: it is deleted when its TTL has passed.
var retired = []stage{
	{"ttl", each(ttlRules)},
}

// The stages of a CronJob. What the built-in controller does in one reconcile takes several decisions: each asks for
// what the next ones rest on, in the built-in's order (C-100).
var cronJob = []stage{
	{"pass", unlessStopped(passRules)},
	{"history", unlessStopped(historyRules)},
	{"active", unlessStopped(activeRules)},
	{"gates", unlessStopped(gateRules)},
	{"start", unlessStopped(startRules)},
	{"status", each(cronStatusRules)},
}

// The stage of a CronJob that another controller runs: nothing is asked for, and what became of its due times is told.
var observedCronJob = []stage{
	{"observed", unlessStopped(observedRules)},
}

func stagesOf(subject projector.Subject) []stage {
	switch s := subject.(type) {
	case *projector.Job:
		return stagesOfJob(s)
	case *projector.Strays:
		return over
	case *projector.Retired:
		return retired
	case *projector.CronJob:
		switch {
		case !s.Settings.CronJobs:
			return nil
		case s.Observed():
			return observedCronJob
		}
		return cronJob
	}
	return nil
}

func stagesOfJob(job *projector.Job) []stage {
	phase := job.Phase()
	switch {
	case phase == projector.PhaseGone:
		return gone
	case phase == projector.PhaseUnknown:
		return unseen
	case !job.Managed || !job.Settings.Records(job.ManagedBy):
		return nil
	case phase == projector.PhaseFinished:
		return finished
	case !knownMode(job.Spec.CompletionMode):
		return nil // J-010
	}
	return unfinished
}

func knownMode(mode string) bool { return mode == "" || mode == "NonIndexed" || mode == "Indexed" }

// claimRules: every one is asked, in order (J-172 to J-176).
var claimRules = []rule{
	{"release", (*plan).releaseDisowned}, // pods that it owns and no longer selects
	{"confirm", (*plan).confirm},         // there are pods to adopt: the Job is read first
	{"adopt", (*plan).adopt},             // pods without an owner and that it selects
}

// gangRules: what the Workload and the PodGroup need next (J-241 to J-245). At most one holds.
var gangRules = []rule{
	{"group", (*plan).awaitGroup},     // one of the commands below is on its way
	{"group", (*plan).findGroup},      // what is there is not known
	{"group", (*plan).createWorkload}, // there are none, and the Job is new
	{"group", (*plan).createPodGroup}, // the Workload is there
	{"group", (*plan).resizeGroup},    // both are there, and say another size than the Job
}

// outcomes: the first that holds decides how the Job ends. The order is the specification (J-159).
var outcomes = []outcome{
	{"storedSuccess", storedSuccess},               // a stored SuccessCriteriaMet is final
	{"storedFailure", storedFailure},               // a stored FailureTarget is final
	{"beingStored", writeInFlight},                 // a condition on its way to the server may be stored already
	{"failJob", failJob},                           // a pod matched a FailJob rule
	{"backoffExceeded", backoffExceeded},           // more failures than backoffLimit allows
	{"deadlinePassed", deadlinePassed},             // activeDeadlineSeconds since the Job started
	{"tooManyFailedIndexes", tooManyFailedIndexes}, // more failed indexes than maxFailedIndexes allows
	{"indexesFailed", indexesFailed},               // every index has ended, and some failed
	{"successRuleMet", successRuleMet},             // a rule of the successPolicy is met
	{"completionsReached", completionsReached},     // as many successes as the Job wants
}

// podRules: every one is asked, in order.
var podRules = []rule{
	{"awaitEnds", (*plan).awaitEnds},               // pods that are being deleted may still end by themselves
	{"giveUp", (*plan).giveUp},                     // a create in backoff and is not wanted any more
	{"keep", (*plan).keep},                         // removals in backoff and have nothing left to ask for
	{"removeSurplus", (*plan).removeSurplus},       // goes on with removals that have begun
	{"deleteActive", (*plan).deleteActive},         // the Job fails: its active pods are deleted, and count as failed
	{"settleInDoubt", (*plan).retryUnknownCreates}, // creates of unknown outcome
	{"removeDuplicates", (*plan).removeDuplicates}, // one pod for each index, none for an index that needs none
	{"scaleDown", (*plan).scaleDown},               // more pods than wanted
	{"create", (*plan).create},                     // fewer pods than wanted
}

// gonePodRules are those of a deleted Job.
var gonePodRules = []rule{
	{"giveUp", (*plan).giveUp},
	{"removeSurplus", (*plan).removeSurplus},
}

// statusRules: every one is asked, in order. A write that says how the Job ends is recorded under the name of that
// outcome.
var statusRules = []rule{
	{"read", (*plan).readFirst},       // the last write did not go through
	{"progress", (*plan).writeStatus}, // one of writeReasons holds
}

// writeReasons: the first that holds is why a status is written now.
var writeReasons = []writeReason{
	finishes,     // nothing of the Job runs any more: count what is left and conclude
	ends,         // how the Job ends is said before its pods go
	suspends,     // suspended or resumed: said at once
	podsWait,     // pods that are being deleted wait to be counted
	emptying,     // nothing of the Job runs any more, and too many pods carry their finalizer for it to say so
	manyHeld,     // a good part of the pods that carry their finalizer has ended
	manyWait,     // so many pods wait to be counted that a write is worth its while
	fallenBehind, // the published status has been behind for a while
}

// ttlRules: every one is asked, in order (T-030 to T-037). At most one holds.
var ttlRules = []rule{
	{"read", (*plan).readExpired},      // the Job has changed since it was to be deleted: a live read shows whether it still is
	{"expired", (*plan).deleteExpired}, // its TTL has passed since it finished
}

// releaseRules: every one is asked, in order.
var releaseRules = []rule{
	{"accounted", (*plan).releasePods}, // the confirmed status accounts for the pod, or nothing is to be counted of it
}

// passRules: whether a pass goes on, and what came of the run that it was to start. Every one is asked, in order, until
// nothing more is decided.
var passRules = []rule{
	{"await", (*plan).await},              // a command is on its way
	{"elsewhere", (*plan).tellElsewhere},  // another controller has started a run
	{"gone", (*plan).concludeCron},        // the CronJob is deleted: its last due times have their fate
	{"backOff", (*plan).backOff},          // something failed (C-190)
	{"started", (*plan).startedRun},       // a run has started, or cannot, or that is unknown
	{"late", (*plan).tellLate},            // the Job of a run has come after it was not found
	{"manual", (*plan).tellManual},        // somebody made a Job by hand, which the history limits may be about to delete
	{"replaced", (*plan).replaceSchedule}, // the schedule was changed
	{"edited", (*plan).awaitEdited},       // a changed schedule waits for its next due time (C-093)
}

// historyRules (C-120 to C-127).
var historyRules = []rule{
	{"limits", (*plan).keepHistory}, // more finished Jobs than are kept
}

// activeRules: the upkeep of the list of active Jobs (C-101 to C-112).
var activeRules = []rule{
	{"confirm", (*plan).confirmActive},     // a Job runs that is not in the list: the CronJob is read first
	{"unexpected", (*plan).tellUnexpected}, // a Job runs that is not in the list
	{"ended", (*plan).leaveActive},         // a Job in the list has finished
	{"missing", (*plan).findMissing},       // a Job in the list is gone, or nothing shows it
}

// gateRules: what keeps any run from starting, in the order of C-131. A run that was asked for passes all but the
// first.
var gateRules = []rule{
	{"deleted", (*plan).gateDeleted},
	{"triggered", (*plan).runTriggered},
	{"zone", (*plan).gateZone},
	{"suspended", (*plan).gateSuspended},
	{"schedule", (*plan).gateSchedule},
}

// startRules (C-140 to C-149).
var startRules = []rule{
	{"due", (*plan).startDue},
}

// observedRules: every one is asked, in order.
var observedRules = []rule{
	{"await", (*plan).await},       // its object has not been seen
	{"manual", (*plan).tellManual}, // somebody made a Job by hand
	{"ours", (*plan).tellOurs},     // a run that this controller started has not been told
	{"seen", (*plan).tellSeen},     // another controller has started a run
	{"gone", (*plan).closeSeen},    // the CronJob is deleted: its last due times have their fate
}

// cronStatusRules (C-170 to C-177).
var cronStatusRules = []rule{
	{"write", (*plan).writeCronStatus},
}

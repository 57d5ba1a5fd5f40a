package job

import (
	"slices"

	"github.com/jobledger/jobledger/projector"
)

// stage is one clause of a decision. The log records the names of stages and rules with each step, so they never
// change.
type stage struct {
	name string
	ask  func(*plan)
}

// rule is one reason to act. It adds steps, sets a time to wait for, or does nothing.
type rule struct {
	name string
	ask  func(*plan)
}

// unfinished: stages of a Job of ours that goes on.
var unfinished = []stage{
	{"claim", each(claimRules)},
	{"gang", each(gangRules)},
	{"outcome", (*plan).decideOutcome},
	{"pods", each(podRules)},
	{"status", each(statusRules)},
	{"release", each(releaseRules)},
}

// finished: stages of a finished Job. It removes remaining finalizers (J-008), and is deleted after its TTL.
var finished = slices.Concat(over, retired)

// over: stages of a subject that only has finalizers left to remove, such as pods without an owner (J-098).
var over = []stage{
	{"pods", each([]rule{{"giveUp", (*plan).giveUp}})},
	{"release", each(releaseRules)},
}

// gone: stages of a deleted Job, which completes the removals it began.
var gone = []stage{
	{"pods", each(gonePodRules)},
	{"release", each(releaseRules)},
}

// unseen: stage of a placeholder, that is, pods that name a Job that has not been seen. They keep their finalizers
// until the Job is found, or found to be gone.
var unseen = []stage{
	{"claim", each([]rule{{"findOwner", (*plan).findOwner}})},
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

// retired: stage of a retired Job, which is deleted after its TTL.
var retired = []stage{
	{"ttl", each(ttlRules)},
}

func stagesOf(subject projector.Subject) []stage {
	switch s := subject.(type) {
	case *projector.Job:
		return stagesOfJob(s)
	case *projector.Strays:
		return over
	case *projector.Retired:
		return retired
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

// claimRules run in order, every one (J-172 to J-176).
var claimRules = []rule{
	{"release", (*plan).releaseDisowned}, // pods that the Job owns and no longer selects
	{"confirm", (*plan).confirm},         // pods to adopt: read the Job first
	{"adopt", (*plan).adopt},             // orphan pods that the Job selects
}

// gangRules create and update the Workload and the PodGroup (J-241 to J-245). At most one applies.
var gangRules = []rule{
	{"group", (*plan).awaitGroup},     // a group command is in flight
	{"group", (*plan).findGroup},      // it is unknown which objects exist
	{"group", (*plan).createWorkload}, // neither exists, and the Job is new
	{"group", (*plan).createPodGroup}, // the Workload exists
	{"group", (*plan).resizeGroup},    // both exist, with another size than the Job's
}

// outcomes: the first that holds decides how the Job ends. The order is the specification (J-159).
var outcomes = []outcome{
	{"storedSuccess", storedSuccess},               // a stored SuccessCriteriaMet is final
	{"storedFailure", storedFailure},               // a stored FailureTarget is final
	{"beingStored", writeInFlight},                 // a condition in flight may be stored already
	{"failJob", failJob},                           // a pod matched a FailJob rule
	{"backoffExceeded", backoffExceeded},           // more failures than backoffLimit allows
	{"deadlinePassed", deadlinePassed},             // activeDeadlineSeconds since the Job started
	{"tooManyFailedIndexes", tooManyFailedIndexes}, // more failed indexes than maxFailedIndexes allows
	{"indexesFailed", indexesFailed},               // every index has ended, and some failed
	{"successRuleMet", successRuleMet},             // a rule of the successPolicy is met
	{"completionsReached", completionsReached},     // as many successes as the Job wants
}

// podRules run in order, every one.
var podRules = []rule{
	{"awaitEnds", (*plan).awaitEnds},               // pods under deletion may still end by themselves
	{"giveUp", (*plan).giveUp},                     // creates in backoff that are no longer wanted
	{"keep", (*plan).keep},                         // removals in backoff that are no longer needed
	{"removeSurplus", (*plan).removeSurplus},       // continues removals that have begun
	{"deleteActive", (*plan).deleteActive},         // the Job fails: its active pods are deleted, and count as failed
	{"settleInDoubt", (*plan).retryUnknownCreates}, // creates of unknown outcome
	{"removeDuplicates", (*plan).removeDuplicates}, // one pod for each index, none for an index that needs none
	{"scaleDown", (*plan).scaleDown},               // more pods than wanted
	{"create", (*plan).create},                     // fewer pods than wanted
}

// gonePodRules are the podRules of a deleted Job.
var gonePodRules = []rule{
	{"giveUp", (*plan).giveUp},
	{"removeSurplus", (*plan).removeSurplus},
}

// statusRules run in order, every one. A write that says how the Job ends is recorded under the name of its outcome.
var statusRules = []rule{
	{"read", (*plan).readFirst},       // the last write failed
	{"progress", (*plan).writeStatus}, // one of writeReasons holds
}

// writeReasons: the first that holds is the reason of the status write.
var writeReasons = []writeReason{
	finishes,     // nothing runs any more: count the rest and finish
	ends,         // announce the end before pods are deleted
	suspends,     // announce a suspend or resume at once
	podsWait,     // pods under deletion wait to be counted
	emptying,     // nothing runs any more, but too many pods carry the finalizer to finish
	manyHeld,     // many of the pods that carry the finalizer have ended
	manyWait,     // enough uncounted pods to justify a write
	fallenBehind, // the published status has been behind for a while
}

// ttlRules run in order, every one (T-030 to T-037). At most one applies.
var ttlRules = []rule{
	{"read", (*plan).readExpired},      // the Job changed after the decision to delete it: read it live first
	{"expired", (*plan).deleteExpired}, // its TTL has passed since it finished
}

// releaseRules run in order, every one.
var releaseRules = []rule{
	{"accounted", (*plan).releasePods}, // the confirmed status accounts for the pod, or it is never counted
}

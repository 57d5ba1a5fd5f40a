package job

import (
	"slices"

	"github.com/jobledger/jobledger/projector"
)

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

// unfinished: the stages of a Job that this controller manages and that has not finished.
var unfinished = []stage{
	{"claim", each(claimRules)},
	{"gang", each(gangRules)},
	{"outcome", (*plan).decideOutcome},
	{"pods", each(podRules)},
	{"status", each(statusRules)},
	{"release", each(releaseRules)},
}

// finished: the stages of a finished Job. Remaining finalizers are removed (J-008), and the Job is deleted after its
// TTL.
var finished = slices.Concat(over, retired)

// over: the stages for pods without an owner, and for Jobs that need nothing but the removal of finalizers (J-098).
var over = []stage{
	{"pods", each([]rule{{"giveUp", (*plan).giveUp}})},
	{"release", each(releaseRules)},
}

// gone: the stages of a deleted Job. They complete the pod removals that the Job began.
var gone = []stage{
	{"pods", each(gonePodRules)},
	{"release", each(releaseRules)},
}

// unseen: the stage of pods that name a Job which has not been seen. They keep their finalizers until the Job is found,
// or a read of the API server shows that it does not exist.
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

// retired: the stage of a retired Job (finished, nothing left to do). The Job is deleted after its TTL.
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
		return nil // a completion mode that this program does not know (J-010)
	}
	return unfinished
}

func knownMode(mode string) bool { return mode == "" || mode == "NonIndexed" || mode == "Indexed" }

// claimRules adopt and release pods; all of them run, in this order (J-172 to J-176).
var claimRules = []rule{
	{"release", (*plan).releaseDisowned}, // pods that the Job owns and whose labels it no longer selects
	{"confirm", (*plan).confirm},         // before pods are adopted, read the Job
	{"adopt", (*plan).adopt},             // orphan pods that the Job selects
}

// gangRules create and update the Workload and the PodGroup (J-241 to J-245). At most one of them applies.
var gangRules = []rule{
	{"group", (*plan).awaitGroup},     // a command about them is in flight
	{"group", (*plan).findGroup},      // it is not known which of the two exist
	{"group", (*plan).createWorkload}, // neither exists, and the Job is new
	{"group", (*plan).createPodGroup}, // the Workload exists, the PodGroup does not
	{"group", (*plan).resizeGroup},    // both exist, but their size is not the Job's
}

// outcomes: the first one that holds decides how the Job ends. Their order is part of the contract (J-159).
var outcomes = []outcome{
	{"storedSuccess", storedSuccess},               // a stored SuccessCriteriaMet is final
	{"storedFailure", storedFailure},               // a stored FailureTarget is final
	{"beingStored", writeInFlight},                 // a write in flight may be stored already
	{"failJob", failJob},                           // a pod matched a FailJob rule
	{"backoffExceeded", backoffExceeded},           // more failures than backoffLimit allows
	{"deadlinePassed", deadlinePassed},             // activeDeadlineSeconds since the Job started
	{"tooManyFailedIndexes", tooManyFailedIndexes}, // more failed indexes than maxFailedIndexes allows
	{"indexesFailed", indexesFailed},               // every index has ended, and some failed
	{"successRuleMet", successRuleMet},             // a rule of the successPolicy is met
	{"completionsReached", completionsReached},     // as many successes as the Job wants
}

// podRules create and delete pods; all of them run, in this order.
var podRules = []rule{
	{"awaitEnds", (*plan).awaitEnds},               // pods being deleted may still end by themselves
	{"giveUp", (*plan).giveUp},                     // cancel creations in backoff that are no longer wanted
	{"keep", (*plan).keep},                         // cancel removals in backoff that are no longer needed
	{"removeSurplus", (*plan).removeSurplus},       // continue removals that have begun
	{"deleteActive", (*plan).deleteActive},         // the Job ends: delete its active pods
	{"settleInDoubt", (*plan).retryUnknownCreates}, // repeat or look up creations with unknown outcome
	{"removeDuplicates", (*plan).removeDuplicates}, // keep one pod per index, and none for an index that needs none
	{"scaleDown", (*plan).scaleDown},               // remove pods if more run than are wanted
	{"create", (*plan).create},                     // create pods if fewer run than are wanted
}

// gonePodRules are the podRules of a deleted Job.
var gonePodRules = []rule{
	{"giveUp", (*plan).giveUp},
	{"removeSurplus", (*plan).removeSurplus},
}

// statusRules write the status. A write that tells how the Job ends is recorded under the name of that outcome.
var statusRules = []rule{
	{"read", (*plan).readFirst},       // the last write failed: read the Job first
	{"progress", (*plan).writeStatus}, // one of writeReasons holds
}

// writeReasons are the reasons for a status write. The first one that holds is recorded.
var writeReasons = []writeReason{
	finishes,     // no pod runs any more: count the remaining pods and finish
	ends,         // publish that the Job ends before its pods are deleted
	suspends,     // publish a suspension or resumption at once
	podsWait,     // pods being deleted wait to be counted
	emptying,     // no pod runs any more, but too many still have the finalizer
	manyHeld,     // many of the pods with the finalizer have ended
	manyWait,     // so many pods are uncounted that a write is worthwhile
	fallenBehind, // the published status has been out of date for a while
}

// ttlRules delete a finished Job after its TTL (T-030 to T-037). At most one of them applies.
var ttlRules = []rule{
	{"read", (*plan).readExpired},      // the Job changed after the decision to delete it: read it first
	{"expired", (*plan).deleteExpired}, // the TTL after the Job's finish has passed
}

// releaseRules remove finalizers.
var releaseRules = []rule{
	{"accounted", (*plan).releasePods}, // the stored status counts the pod, or the pod is never counted
}

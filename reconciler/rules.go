package reconciler

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// stage is one clause of a decision. It yields steps, or a time to wait for, or nothing.
type stage struct {
	name string
	run  func(*plan)
}

// The stages of a Job that is ours and goes on.
var unfinished = []stage{
	{"claim", (*plan).claimPods},
	{"gang", (*plan).group},
	{"outcome", (*plan).decideOutcome},
	{"pods", (*plan).managePods},
	{"status", (*plan).writeStatus},
	{"release", (*plan).releasePods},
}

// The stages of what only has finalizers left to let go: finished and deleted Jobs, pods that nobody owns (J-008, J-098).
var over = []stage{
	{"pods", (*plan).giveUp},
	{"release", (*plan).releasePods},
}

// The stage of a placeholder: pods that name a Job which has not been seen. They keep their finalizers until it is found, or
// found gone.
var unseen = []stage{
	{"claim", (*plan).findOwner},
}

func stagesOf(job *projector.Job) []stage {
	switch {
	case job.Stream.Kind == events.StreamNamespace, job.Gone:
		return over
	case !job.Known():
		return unseen
	case !job.Managed || !job.Settings.Mode.Manages(job.ManagedBy):
		return nil
	case job.Finished():
		return over
	case !knownMode(job.Spec.CompletionMode):
		return nil // J-010
	}
	return unfinished
}

func knownMode(mode string) bool { return mode == "" || mode == "NonIndexed" || mode == "Indexed" }

// claimRules: every one is asked, in order (section 12 of the contract).
var claimRules = []podRule{
	{"release", (*plan).releaseDisowned}, // pods that it owns and no longer selects
	{"adopt", (*plan).adopt},             // pods that nobody owns and that it selects
}

// outcomes: the first that holds decides how the Job ends. The order is the specification (section 11 of the contract).
var outcomes = []outcome{
	{"storedSuccess", storedSuccess},               // a stored SuccessCriteriaMet is final
	{"storedFailure", storedFailure},               // a stored FailureTarget is final
	{"beingStored", beingStored},                   // a condition on its way to the server may be stored already
	{"failJob", failJob},                           // a pod matched a FailJob rule
	{"backoffExceeded", backoffExceeded},           // more failures than backoffLimit allows
	{"deadlinePassed", deadlinePassed},             // activeDeadlineSeconds since the Job started
	{"tooManyFailedIndexes", tooManyFailedIndexes}, // more failed indexes than maxFailedIndexes allows
	{"indexesFailed", indexesFailed},               // every index has ended, and some failed
	{"successRuleMet", successRuleMet},             // a rule of the successPolicy is met
	{"completionsReached", completionsReached},     // as many successes as the Job wants
}

// podRules: every one is asked, in order.
var podRules = []podRule{
	{"giveUp", (*plan).giveUp},                     // a create that stands refused and is not wanted any more
	{"keep", (*plan).keep},                         // removals that stand refused and have nothing left to ask for
	{"removeSurplus", (*plan).removeSurplus},       // goes on with removals that have begun
	{"deleteActive", (*plan).deleteActive},         // the Job fails: its active pods are deleted, and count as failed
	{"settleInDoubt", (*plan).settleInDoubt},       // creates whose end nobody knows
	{"removeDuplicates", (*plan).removeDuplicates}, // one pod for each index, none for an index that needs none
	{"scaleDown", (*plan).scaleDown},               // more pods than wanted
	{"create", (*plan).create},                     // fewer pods than wanted
}

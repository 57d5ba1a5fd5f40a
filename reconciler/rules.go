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

// The stages of a Job that is ours and goes on. (The stage claim, adoption and release by selector, has its place before
// outcome.)
var unfinished = []stage{
	{"outcome", (*plan).decideOutcome},
	{"pods", (*plan).managePods},
	{"status", (*plan).writeStatus},
	{"release", (*plan).releasePods},
}

// The stages of what only has finalizers left to let go: finished and deleted Jobs, pods that nobody owns (J-008, J-098).
var over = []stage{
	{"release", (*plan).releasePods},
}

// The stages of a placeholder: pods that name a Job which has not been seen.
var unseen = []stage{
	{"claim", (*plan).findOwner},
	{"release", (*plan).releasePods},
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
	}
	return unfinished
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
	{"removeSurplus", (*plan).removeSurplus},       // goes on with removals that have begun
	{"deleteActive", (*plan).deleteActive},         // the Job fails: its active pods are deleted, and count as failed
	{"settleInDoubt", (*plan).settleInDoubt},       // creates whose end nobody knows
	{"removeDuplicates", (*plan).removeDuplicates}, // one pod for each index, none for an index that needs none
	{"scaleDown", (*plan).scaleDown},               // more pods than wanted
	{"create", (*plan).create},                     // fewer pods than wanted
}

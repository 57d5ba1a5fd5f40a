package job

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// The rules below create and update the Workload and PodGroup of a Job whose pods are scheduled together (J-239 to
// J-248). They run before any pod is created, even while the Job is suspended (J-241).

// awaitGroup waits for a command about the Workload or PodGroup that is in flight. It also waits while a Job that has
// not begun adopts a pod, because with this pod the Job no longer counts as new (J-242).
func (p *plan) awaitGroup() {
	if p.job.Gang() && (p.job.Grouping() != nil || p.claiming && p.fresh()) {
		p.ungroup()
	}
}

func (p *plan) findGroup() {
	switch {
	case !p.job.Beta():
		if p.groupIs(projector.GroupUnsought) {
			p.group(fmt.Sprintf("all %s run together: look for their Workload and PodGroup", pods(int(p.job.Parallelism))), &events.FindGroup{})
		}
	case p.groupIs(projector.GroupTaken):
		p.group("something has that name: look whether it is the Job's", &events.FindGroup{})
	case !p.groupIs(projector.GroupUnsought):
	case p.job.Parent == events.ParentDelegates:
		p.group("the Job's owner delegates its PodGroup: look for the owner's Workload", &events.FindGroup{})
	case !p.fresh():
		p.group("the Job is not new: look for its Workload and PodGroup", &events.FindGroup{})
	}
}

func (p *plan) createWorkload() {
	if !p.fresh() {
		return
	}
	if !p.job.Beta() {
		if p.groupIs(projector.GroupMissing) {
			n := p.job.Parallelism
			p.group(fmt.Sprintf("a new Job whose %s run together: create its Workload", pods(int(n))), &events.CreateWorkload{MinCount: n})
		}
		return
	}
	if p.job.Parent != events.ParentDelegates && (p.groupIs(projector.GroupUnsought) || p.groupIs(projector.GroupMissing)) {
		n := p.job.GroupSize()
		sentence := "a new Job: create its Workload"
		if n > 0 {
			sentence = fmt.Sprintf("a new Job, and at least %s are to start together: create its Workload", pods(int(n)))
		}
		p.group(sentence, &events.CreateWorkload{MinCount: n})
	}
}

func (p *plan) createPodGroup() {
	if p.groupIs(projector.GroupHalf) && (p.fresh() || !p.job.Beta()) {
		p.group("the Workload is there: create its PodGroup", &events.CreatePodGroup{})
	}
}

// resizeGroup updates minCount (pods that must be scheduled together) of Workload and PodGroup when the Job's size
// changes, even while pods run. It does so only in Kubernetes 1.37, and only when both objects exist.
func (p *plan) resizeGroup() {
	g, n := &p.job.Group, int32(0)
	if p.job.Beta() && p.groupIs(projector.GroupReady) {
		n = p.job.GroupSize()
	}
	switch {
	case n == 0 || n == g.Size:
	case p.job.Parent == events.ParentDelegates:
		p.group("the Job runs another number of pods at once: look what its owner's Workload says", &events.ResizeGroup{MinCount: n})
	default:
		p.group(fmt.Sprintf("at least %s are to start together: say so in Workload and PodGroup", pods(int(n))), &events.ResizeGroup{MinCount: n})
	}
}

// unsure reports whether the PodGroup may have been deleted: no pod of the Job protects it, and the cluster may have
// changed since the PodGroup was last seen. In that case it also requests a search for the PodGroup before the next pod
// is created, because a pod that names a missing PodGroup waits for ever (J-246).
func (p *plan) unsure() bool {
	if !p.inGroup() || !p.job.Group.Beta || p.job.Group.Sure || p.job.Tally().Active > 0 || len(p.job.Creates()) > 0 {
		return false
	}
	if !p.WakeAt(p.job.Regrouping().Until) {
		p.Step(reconciler.GroupWanted, "no pod of the Job runs: look whether its PodGroup is still there, before the next pod", &events.FindGroup{})
	}
	return true
}

// groupIs reports whether the Job's Workload and PodGroup are known to be in this stage, such as GroupReady, and no
// command about them is in flight.
func (p *plan) groupIs(stage projector.GroupStage) bool {
	return p.job.Gang() && p.job.Grouping() == nil && p.job.Group.Stage == stage
}

// group adds a command about the Workload or PodGroup to the decision, unless such commands are in backoff. It creates
// no pods meanwhile. sentence says why, for users.
func (p *plan) group(sentence string, command events.Command) {
	p.ungroup()
	if !p.WakeAt(p.job.Regrouping().Until) {
		p.Step(reconciler.GroupWanted, sentence, command)
	}
}

// ungroup makes this decision create no pods, because the PodGroup must exist first, or be known to be unwanted. For a
// Job that has not begun it ends the decision, because after any other change the Job would no longer be new (J-242).
func (p *plan) ungroup() {
	p.ungrouped = true
	p.Over = p.fresh()
}

// fresh reports whether the Job is new: it has no pods, and its status shows no start (J-242). Orphan pods that the Job
// has not adopted do not count as its pods.
func (p *plan) fresh() bool {
	b := &p.job.Base
	return p.job.PodCount() == p.job.OrphanedLen() && len(p.job.Creates()) == 0 && b.StartTime == 0 && b.Succeeded == 0 && b.Failed == 0 &&
		b.Condition(status.Suspended) == nil
}

// inGroup reports whether new pods must name the Job's PodGroup (J-246).
func (p *plan) inGroup() bool { return p.job.Gang() && p.job.Group.Stage == projector.GroupReady }

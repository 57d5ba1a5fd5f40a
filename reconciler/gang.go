package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// The rules of this stage see to the Workload and the PodGroup of a Job whose pods are to be scheduled together (J-239 to J-248), before
// any pod is made, also while the Job is suspended (J-241).

// awaitGroup waits for the command that is on its way.
func (p *plan) awaitGroup() {
	if p.job.Gang() && p.job.Grouping() != nil {
		p.ungroup()
	}
}

func (p *plan) findGroup() {
	if p.groupIs(projector.GroupUnsought) {
		p.group(fmt.Sprintf("all %s run together: look for their Workload and PodGroup", pods(int(p.job.Parallelism))), &events.FindGroup{})
	}
}

func (p *plan) createWorkload() {
	if p.groupIs(projector.GroupMissing) && p.fresh() {
		n := p.job.Parallelism
		p.group(fmt.Sprintf("a new Job whose %s run together: create its Workload", pods(int(n))), &events.CreateWorkload{MinCount: n})
	}
}

func (p *plan) createPodGroup() {
	if p.groupIs(projector.GroupHalf) {
		p.group("the Workload is there: create its PodGroup", &events.CreatePodGroup{})
	}
}

// groupIs reports whether the Job's group has got so far, and nothing is being done to it.
func (p *plan) groupIs(stage projector.GroupStage) bool {
	return p.job.Gang() && p.job.Grouping() == nil && p.job.Group.Stage == stage
}

// group asks for what the group needs next, unless that was refused a while ago.
func (p *plan) group(sentence string, command events.Command) {
	p.ungroup()
	if !p.wake(p.job.Regrouping().Until) {
		p.step(GroupWanted, sentence, command)
	}
}

// ungroup: until the group is there, or known not to be wanted, no pod is made, and of a Job that has not begun nothing else is
// decided: it would not count as new any more (J-242).
func (p *plan) ungroup() {
	p.ungrouped = true
	p.over = p.fresh()
}

// fresh reports whether the Job has not begun (J-242).
func (p *plan) fresh() bool {
	b := &p.job.Base
	return p.job.PodCount() == 0 && len(p.job.Creates()) == 0 && b.StartTime == 0 && b.Succeeded == 0 && b.Failed == 0 &&
		b.Condition(status.Suspended) == nil
}

// inGroup reports whether new pods name the Job's PodGroup (J-246).
func (p *plan) inGroup() bool { return p.job.Gang() && p.job.Group.Stage == projector.GroupReady }

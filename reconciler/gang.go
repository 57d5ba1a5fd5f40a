package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// group sees to the Workload and the PodGroup of a Job whose pods are to be scheduled together (section 17), before any pod
// is made, also while the Job is suspended (J-241). Until they are there, or known not to be wanted, no pod is made, and of
// a Job that has not begun nothing else is decided: it would not count as new any more (J-242).
func (p *plan) group() {
	if !p.job.Gang() {
		return
	}
	g := &p.job.Group
	command, reason, sentence := p.nextOfGroup()
	switch {
	case g.Flight != nil:
	case command == nil:
		return
	case !p.wake(g.Retry.Until):
		p.step("gang", "group", reason, sentence, command)
	}
	p.ungrouped = true
	p.over = p.fresh()
}

// nextOfGroup is what the Job's group needs next; nil when it is ready, or not to be had.
func (p *plan) nextOfGroup() (events.Command, events.Reason, string) {
	n := p.job.Parallelism()
	switch p.job.Group.Stage {
	case projector.GroupUnsought:
		return &events.FindGroup{}, GroupWanted, fmt.Sprintf("all %s run together: look for their Workload and PodGroup", pods(int(n)))
	case projector.GroupMissing:
		if p.fresh() {
			return &events.CreateWorkload{MinCount: n}, GroupWanted, fmt.Sprintf("a new Job whose %s run together: create its Workload", pods(int(n)))
		}
	case projector.GroupHalf:
		return &events.CreatePodGroup{}, GroupWanted, "the Workload is there: create its PodGroup"
	case projector.GroupReady, projector.GroupForeign:
	}
	return nil, "", ""
}

// fresh reports whether the Job has not begun (J-242).
func (p *plan) fresh() bool {
	b := &p.job.Base
	return p.job.PodCount() == 0 && len(p.job.Creates()) == 0 && b.StartTime == 0 && b.Succeeded == 0 && b.Failed == 0 &&
		b.Condition(projector.Suspended) == nil
}

// inGroup reports whether new pods name the Job's PodGroup (J-246).
func (p *plan) inGroup() bool { return p.job.Gang() && p.job.Group.Stage == projector.GroupReady }

package job

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// removeSurplus continues the removal of surplus pods (more than the Job wants): first of the finalizer, so that the
// pod is never counted, then of the pod (J-073). Only the rule keep can cancel a removal, and only one that waits for
// another attempt.
func (p *plan) removeSurplus() {
	if p.job.SurplusLen() == 0 {
		return
	}
	var drops, deletes []events.Command
	for pod := range p.job.Surplus() {
		if pod.Held() {
			drops = append(drops, &events.DropFinalizer{Pod: pod.UID, ThenDelete: true})
		} else {
			deletes = append(deletes, &events.DeletePod{Pod: pod.UID})
		}
	}
	p.Step(reconciler.FewerPodsWanted,
		fmt.Sprintf("%s surplus: remove the finalizer first", pods(len(drops))), drops...)
	p.Step(reconciler.FinalizerGone,
		fmt.Sprintf("%s surplus, the finalizer is gone: delete", pods(len(deletes))), deletes...)
}

// removeDuplicates removes active pods without a valid index. If several pods run for one index, it keeps the most
// advanced one, or none if the index has already completed or failed (J-071).
func (p *plan) removeDuplicates() {
	j := p.job
	if !p.wantsPods() {
		return
	}
	surplus := j.Misplaced()
	for _, i := range j.Crowded() {
		rivals := slices.DeleteFunc(j.Occupants(i), func(pod *projector.Pod) bool { return !pod.Active() })
		slices.SortFunc(rivals, leastAdvanced)
		if n := len(rivals); n > 0 && !j.Completed().Has(i) && !(j.PerIndex && j.Base.FailedIndexes.Has(i)) {
			rivals = rivals[:n-1]
		}
		for _, pod := range rivals {
			if idle(j, pod) {
				surplus = append(surplus, pod)
			}
		}
	}
	if len(surplus) == 0 {
		return
	}
	p.remove(reconciler.DuplicateIndex, surplus[:min(len(surplus), p.removable())])
}

// scaleDown removes the least advanced pods if more are active than wanted (J-069, J-070).
func (p *plan) scaleDown() {
	j := p.job
	excess := int(j.Tally().Idle) - len(p.removing) - p.wanted()
	if !p.wantsPods() || excess <= 0 {
		return
	}
	var active []*projector.Pod
	for _, pod := range j.Pods() {
		if idle(j, pod) && !p.removing[pod] {
			active = append(active, pod)
		}
	}
	slices.SortFunc(active, leastAdvanced)
	p.remove(reconciler.FewerPodsWanted, active[:min(excess, p.removable())])
}

// removable returns how many more pods this decision may remove (J-072). For a suspended Job it is all pods (J-078).
func (p *plan) removable() int {
	if p.job.Spec.Suspend {
		return p.job.PodCount()
	}
	return int(p.job.Settings.MaxPodsPerDecision) - len(p.removing)
}

func (p *plan) remove(reason events.Reason, surplus []*projector.Pod) {
	commands := make([]events.Command, 0, len(surplus))
	if p.removing == nil {
		p.removing = make(map[*projector.Pod]bool, len(surplus))
	}
	for _, pod := range surplus {
		p.removing[pod] = true
		if pod.Held() {
			commands = append(commands, &events.DropFinalizer{Pod: pod.UID, ThenDelete: true})
		} else {
			commands = append(commands, &events.DeletePod{Pod: pod.UID})
		}
	}
	p.Step(reason, fmt.Sprintf("%s surplus: remove the finalizer, then the pod", pods(len(commands))), commands...)
}

// leastAdvanced orders pods by how much work their deletion loses, least first (J-069). The UID makes the order total.
func leastAdvanced(a, b *projector.Pod) int {
	return cmp.Or(
		falseFirst(a.Scheduled, b.Scheduled),
		cmp.Compare(advance(a.Phase), advance(b.Phase)),
		falseFirst(a.Ready, b.Ready),
		laterFirst(a.ReadySince, b.ReadySince), // only a ready pod has this time
		cmp.Compare(b.MaxRestarts, a.MaxRestarts),
		cmp.Compare(b.MaxSidecarRestarts, a.MaxSidecarRestarts),
		laterFirst(a.Created, b.Created),
		cmp.Compare(a.UID, b.UID),
	)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func advance(p events.PodPhase) int {
	switch p {
	case events.PodRunning:
		return 2
	case events.PodUnknown:
		return 1
	default:
		return 0
	}
}

// laterFirst compares two times, for sorting: a missing time (0) comes first, then the later one.
func laterFirst(a, b events.Time) int {
	if a == 0 || b == 0 {
		return falseFirst(a != 0, b != 0)
	}
	return cmp.Compare(b, a)
}

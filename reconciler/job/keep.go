package job

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// keep cancels pod removals in backoff that are no longer needed:
//   - A pod that has ended keeps its logs. If it still has the finalizer, it is counted, as by the built-in controller.
//   - A pod that the Job no longer owns is released.
//   - A surplus pod that is needed after a scale-up is kept instead of creating a new one. If its finalizer is already
//     gone, the pod runs but is never counted (J-179).
//   - When the Job ends, surplus pods are deleted like all others (J-079). So a surplus pod whose finalizer cannot be
//     removed first stops being surplus.
func (p *plan) keep() {
	t := p.job.Tally()
	again, ends := p.wantedAgain(), p.end != nil && p.job.Base.True(p.end.interim)
	if t.Pointless == 0 && again <= 0 && (!ends || t.Refused == 0) {
		return
	}
	var over, wanted []*projector.Pod
	for _, pod := range p.job.Unremoved() {
		switch {
		case pod.Drop() != nil && p.WakeAt(pod.DropDoubt):
			// Do not keep the pod yet: an earlier try to remove its finalizer, with unknown outcome, may still take
			// effect. The pod would then count without having a finalizer.
		case !idleBut(p.job, pod) || (ends && pod.Held()):
			over = append(over, pod)
		case !p.job.Indexed || p.job.Awaits(pod.Index):
			wanted = append(wanted, pod)
		}
	}
	p.withdraw(over, "%s not to be removed any more: withdraw the removal")
	if again > 0 {
		slices.SortFunc(wanted, leastAdvanced)
		p.withdraw(wanted[max(0, len(wanted)-again):], "%s wanted again: withdraw the removal")
	}
}

// wantedAgain returns how many surplus pods (chosen for removal) the Job needs again, of those whose removal is in
// backoff. Active pods, pods that were kept before, and pods being created are used first.
func (p *plan) wantedAgain() int {
	t := p.job.Tally()
	if t.Refused == 0 || !p.wantsPods() {
		return 0
	}
	again := p.wanted() - int(t.Idle) - int(t.Spared) - len(p.job.Creates())
	if p.windsDown() {
		// A work queue that has a success replaces no pod, so pods that ended (Unsure) take no slot
		return again
	}
	return again - int(t.Unsure)
}

// idleBut reports whether the pod is the Job's and active, whether or not its removal has begun.
func idleBut(j *projector.Job, pod *projector.Pod) bool { return j.Claims(pod) && pod.Active() }

func (p *plan) withdraw(all []*projector.Pod, sentence string) {
	commands := make([]events.Command, 0, len(all))
	for _, pod := range all {
		commands = append(commands, &events.Withdraw{Command: pod.Removal()})
	}
	p.Step(reconciler.RemovalOver, fmt.Sprintf(sentence, pods(len(commands))), commands...)
}

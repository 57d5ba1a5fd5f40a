package job

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// keep withdraws pod removals in backoff that are no longer needed:
//   - A pod that has ended keeps its logs, and counts if it still has the finalizer, as upstream counts it.
//   - A pod that the Job no longer owns is released.
//   - A surplus pod that is needed after a scale-up replaces a new pod. If its finalizer is already gone, it runs but
//     never counts (J-179).
//   - When the Job ends, surplus pods are deleted like all others (J-079), so a surplus pod whose finalizer cannot be
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
			// A try of unknown outcome may still remove the finalizer, and the pod would count without having one.
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

// wantedAgain returns how many surplus pods with a removal in backoff are needed, beyond active pods, pods that were
// already kept, and pods being created.
func (p *plan) wantedAgain() int {
	t := p.job.Tally()
	if t.Refused == 0 || !p.wantsPods() {
		return 0
	}
	again := p.wanted() - int(t.Idle) - int(t.Spared) - len(p.job.Creates())
	if p.windsDown() {
		return again // its ended pods hold no slot
	}
	return again - int(t.Unsure)
}

// idleBut reports whether the pod is active, apart from its removal in backoff.
func idleBut(j *projector.Job, pod *projector.Pod) bool { return j.Claims(pod) && pod.Active() }

func (p *plan) withdraw(all []*projector.Pod, sentence string) {
	commands := make([]events.Command, 0, len(all))
	for _, pod := range all {
		commands = append(commands, &events.Withdraw{Command: pod.Removal()})
	}
	p.Step(reconciler.RemovalOver, fmt.Sprintf(sentence, pods(len(commands))), commands...)
}

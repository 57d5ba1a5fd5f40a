package reconciler

import (
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// keep cancels removals in backoff of pods that are to be removed no longer. A pod that has ended stays, with its logs,
// and is counted if it still carries the finalizer, as upstream counts it. One that the Job does not own any more is
// released. A surplus pod that is wanted again, after a scale up, goes on in the place of a new one; should its
// finalizer be gone already, it runs but is not counted (J-179). When the Job ends its surplus pods are deleted like
// the others (J-079), so one whose finalizer cannot be removed loses that wish first.
func (p *plan) keep() {
	t := p.job.Tally()
	again, ends := p.wantedAgain(), p.end != nil && p.job.Base.True(p.end.interim)
	if t.Pointless == 0 && again <= 0 && (!ends || t.Refused == 0) {
		return
	}
	var over, wanted []*projector.Pod
	for _, pod := range p.job.Unremoved() {
		switch {
		case pod.Drop() != nil && p.wake(pod.DropDoubt):
			// A try of unknown end may take the finalizer off: the pod would be counted although it had none.
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

// wantedAgain is how many surplus pods whose removal is in backoff are wanted: beside those that nothing is done to,
// those that are kept already, and those that are being made.
func (p *plan) wantedAgain() int {
	t := p.job.Tally()
	if t.Refused == 0 || !p.wantsPods() {
		return 0
	}
	again := p.wanted() - int(t.Idle) - int(t.Spared) - len(p.job.Creates())
	if p.windsDown() {
		return again // pods that have ended hold no slot of it
	}
	return again - int(t.Unsure)
}

// idleBut reports whether the pod is active, but for the removal in backoff.
func idleBut(j *projector.Job, pod *projector.Pod) bool { return j.Claims(pod) && pod.Active() }

func (p *plan) withdraw(all []*projector.Pod, sentence string) {
	commands := make([]events.Command, 0, len(all))
	for _, pod := range all {
		commands = append(commands, &events.Withdraw{Command: pod.Removal()})
	}
	p.step(RemovalOver, fmt.Sprintf(sentence, pods(len(commands))), commands...)
}

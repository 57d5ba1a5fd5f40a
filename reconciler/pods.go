package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// wantsPods reports whether pods may be made and scaled at all (J-046): not while the Job ends or is deleted, nor while
// an end of it that was written may yet turn out to be stored (J-009), nor while pods are being adopted (J-018).
func (p *plan) wantsPods() bool {
	return p.end == nil && !p.claiming && p.job.Deleted == 0 && !p.wake(p.job.EndInDoubt)
}

// wanted is how many pods should be active (J-047).
func (p *plan) wanted() int {
	j := p.job
	switch {
	case j.Spec.Suspend:
		return 0
	case !j.WorkQueue:
		return int(max(0, min(j.Completions-j.SucceededCount(), j.Parallelism)))
	case p.windsDown():
		return int(j.Tally().Active) // after the first success neither more nor fewer
	}
	return int(j.Parallelism)
}

// windsDown reports whether a work queue has a success, or may have one: a pod that succeeded while its removal is
// refused may count yet (J-074).
func (p *plan) windsDown() bool {
	return p.job.WorkQueue && (p.job.SucceededCount() > 0 || p.job.Tally().UnsureSucceeded > 0)
}

// slots is for how many pods there is room beside those that are there; in failed-only mode one that is on its way out
// keeps its slot (J-048), and so do one that has ended and may be counted yet (J-074), and one that is being deleted
// and may end by itself (J-022).
func (p *plan) slots() int {
	t := p.job.Tally()
	taken := int(t.Active + t.Unsure + t.Stopping)
	if p.job.FailedOnly {
		taken += int(t.Terminating)
	}
	return p.wanted() - taken
}

// deleteActive deletes the active pods of a Job that fails, or that has succeeded with pods left over, once the
// condition that says so is stored: a verdict that is not may still be overtaken, and leaves no trace then (design §5).
// The pods keep their finalizer; of a failing Job they count as failed (J-079), of one that succeeded not at all
// (J-142). Of a Job that may be finished already none is deleted (J-082).
func (p *plan) deleteActive() {
	if p.concluding() || p.job.Tally().Idle == 0 {
		return
	}
	var reason events.Reason
	switch {
	case p.job.Base.True(status.FailureTarget):
		reason = JobFailing
	case p.job.Base.True(status.SuccessCriteriaMet):
		reason = JobSucceeded
	default:
		return
	}
	var commands []events.Command
	for _, pod := range p.job.Pods() {
		if idle(p.job, pod) {
			commands = append(commands, &events.DeletePod{Pod: pod.UID})
		}
	}
	p.step(reason, fmt.Sprintf("the Job ends: delete its %s", pods(len(commands))), commands...)
}

// idle reports whether the pod is active and nothing is being done to it.
func idle(j *projector.Job, pod *projector.Pod) bool {
	return j.Claims(pod) && pod.Active() && !pod.Surplus && pod.Delete() == nil
}

// retryUnknownCreates goes on with creates of unknown outcome. Each holds its slot and its index until it has ended: it
// is asked again under the same name while it is still wanted as it was, and there is room for it (J-047); else its pod
// is looked for, not before the server can no longer act on the request: a pod that is made after the look would be one
// that was never asked for, of a Job that may be finished (J-009). A pod that a listing shows settles its create at
// once.
func (p *plan) retryUnknownCreates() {
	if p.claiming {
		return
	}
	var again, look []events.Command
	for k, c := range p.job.Creates() {
		if c.Flight() != nil {
			continue
		}
		same := k < p.slots() && !c.MustList && p.wantsPods() && p.asBefore(c)
		switch {
		case p.wake(p.job.Creating().Until):
		case same:
			create := c.CreatePod
			create.Again = true
			again = append(again, &create)
		case !p.wake(c.Sent.Add(p.job.Settings.RequestTimeout)):
			look = append(look, &events.ReadPod{Ordinal: c.Ordinal, Index: c.Index})
		}
	}
	if len(again) > 0 {
		p.step(OutcomeUnknown,
			fmt.Sprintf("the outcome of creating %s is unknown: create again under the same name", pods(len(again))), again...)
	}
	if len(look) > 0 {
		p.step(LookFirst,
			fmt.Sprintf("the outcome of creating %s is unknown: look by name", pods(len(look))), look...)
	}
}

// giveUp withdraws the create in backoff when it is wanted no longer as it is: a Job must not wait for ever for what it
// does not need. And it withdraws all that are on their way when no pod is to be made any more, so that those that were
// not sent yet never are (J-164, J-011). How the newest try of each ended is awaited.
func (p *plan) giveUp() {
	certain := !p.claiming || p.noneWanted() // whatever is found out about pods that are yet to be adopted
	if c := p.job.RetryingCreate(); c != nil && !c.Cancelled() && (certain || p.spared(c)) && !p.stillWanted(c) {
		p.step(NoLongerWanted, "a refused create is being retried, and is not wanted any more: withdraw it",
			&events.Withdraw{Command: c.Flight().Name()})
	}
	if !p.noneWanted() {
		return
	}
	var commands []events.Command
	for _, c := range p.job.Creates() {
		if c.OnItsWay() {
			commands = append(commands, &events.Withdraw{Command: c.Flight().Name()})
		}
	}
	p.step(NoLongerWanted,
		fmt.Sprintf("no pod is to be made any more: withdraw what was not sent of %s", pods(len(commands))), commands...)
}

// noneWanted reports whether no pod of the Job is to be made, for certain: it is over, being deleted or suspended, or
// it is stored how it ends.
func (p *plan) noneWanted() bool {
	j := p.job
	return j.Gone || j.Finished() || j.Deleted != 0 || (p.end != nil && j.Base.True(p.end.interim)) || (j.Spec != nil && j.Spec.Suspend)
}

// spared reports whether the index of a create needs no pod: no pod that is yet to be adopted can change that.
func (p *plan) spared(c *projector.Create) bool { return p.job.Indexed && !p.job.Awaits(c.Index) }

func (p *plan) stillWanted(c *projector.Create) bool {
	j := p.job
	return !j.Gone && !j.Finished() && p.wantsPods() && p.asBefore(c) && len(j.Creates()) <= p.slots()
}

// asBefore reports whether the pod of a create would be made now as it was to be: from the Job's template, for an index
// that needs it, with the counts of the one that it replaces, and not while a failure since delays it (J-051, J-119).
func (p *plan) asBefore(c *projector.Create) bool {
	j := p.job
	now := events.CreatePod{Index: c.Index}
	return c.Template == j.Spec.Template && !p.spared(c) && !p.backsOff() && !p.waits(&now) &&
		now.IndexFailures == c.IndexFailures && now.IndexIgnoredFailures == c.IndexIgnoredFailures
}

// create makes pods up to the number wanted, as many at once as slow start allows (J-048 to J-057), but none while pods
// are being removed (J-049). A pod whose removal is in backoff holds its slot, and no other's (J-074).
func (p *plan) create() {
	j := p.job
	if !p.wantsPods() || p.ungrouped || len(p.removing) > 0 || j.Removing() {
		return
	}
	missing := p.slots() - len(j.Creates())
	room := int(j.Window) - len(j.Creates())
	if missing <= 0 || room <= 0 || j.RetryingCreate() != nil || p.wake(j.Creating().Until) || p.backsOff() {
		return
	}
	var commands []events.Command
	for _, index := range p.indexes(min(missing, int(j.Settings.MaxPodsPerDecision))) {
		c := &events.CreatePod{Ordinal: j.Ordinal + uint64(len(commands)) + 1, Index: index, Template: j.Spec.Template, InGroup: p.inGroup()}
		if p.waits(c) {
			continue // in backoff, it keeps the slot that was chosen for it (J-053)
		}
		if commands = append(commands, c); len(commands) == room {
			break
		}
	}
	if len(commands) > 0 && p.unsure() {
		return
	}
	p.making = len(commands)
	p.step(MorePodsWanted, fmt.Sprintf(
		"%d wanted, %d active, %d being created: create %d", p.wanted(), j.Tally().Active, len(j.Creates()), len(commands)), commands...)
}

// backsOff reports whether a failure delays new pods (J-051). With a limit per index it delays those of its index
// alone.
func (p *plan) backsOff() bool { return !p.job.PerIndex && p.wake(p.job.PodBackoffUntil()) }

// waits reports whether the index of a new pod is still in backoff (J-109), and lets the pod take over the counts of
// the one that it replaces (J-119).
func (p *plan) waits(c *events.CreatePod) bool {
	held := p.job.Held(c.Index) // of Jobs with a limit per index
	if held == nil {
		return false
	}
	c.IndexFailures, c.IndexIgnoredFailures = held.IndexFailures, held.IndexIgnoredFailures
	if held.Ignored() {
		c.IndexIgnoredFailures++
	} else {
		c.IndexFailures++
	}
	return p.wake(p.job.IndexWait(held).Until)
}

// indexes are the completion indexes of n new pods, the lowest that need one (J-052); of a Job that is not Indexed,
// none.
func (p *plan) indexes(n int) []int32 {
	if p.job.Indexed {
		return p.job.FreeIndexes(n)
	}
	none := make([]int32, n)
	for i := range none {
		none[i] = events.NoIndex
	}
	return none
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

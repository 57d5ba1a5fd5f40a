package job

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// wantsPods reports whether pods may be created and scaled at all (J-046). They may not while the Job ends or is
// deleted, while a written end may still turn out to be stored (J-009), or while pods are being adopted (J-018).
func (p *plan) wantsPods() bool {
	return p.end == nil && !p.claiming && p.job.Deleted == 0 && !p.WakeAt(p.job.EndInDoubt)
}

// wanted returns how many pods should be active (J-047).
func (p *plan) wanted() int {
	j := p.job
	switch {
	case j.Spec.Suspend:
		return 0
	case !j.WorkQueue:
		return int(max(0, min(j.Completions-j.SucceededCount(), j.Parallelism)))
	case p.windsDown():
		return int(j.Tally().Active) // after the first success the number of active pods stays as it is
	}
	return int(j.Parallelism)
}

// windsDown reports whether a work queue has a success, or may have one: a pod that succeeded while its removal was
// refused may still count (J-074).
func (p *plan) windsDown() bool {
	return p.job.WorkQueue && (p.job.SucceededCount() > 0 || p.job.Tally().UnsureSucceeded > 0)
}

// slots returns how many more pods the Job may have. These pods hold a slot: an active pod; a terminating pod in
// failed-only mode (J-048); an ended pod that may still count (J-074); a pod under deletion that may end by itself
// (J-022).
func (p *plan) slots() int {
	t := p.job.Tally()
	taken := int(t.Active + t.Unsure + t.Stopping)
	if p.job.FailedOnly {
		taken += int(t.Terminating)
	}
	return p.wanted() - taken
}

// deleteActive deletes the active pods of a Job that fails, or that succeeded with pods left over, once the matching
// condition is stored: a verdict that is not stored may still be overtaken without a trace (design §5). The pods keep
// their finalizer. They count as failed if the Job fails (J-079), and not at all if it succeeded (J-142). If the Job
// may be finished already, no pod is deleted (J-082).
func (p *plan) deleteActive() {
	if p.concluding() || p.job.Tally().Idle == 0 {
		return
	}
	var reason events.Reason
	switch {
	case p.job.Base.True(status.FailureTarget):
		reason = reconciler.JobFailing
	case p.job.Base.True(status.SuccessCriteriaMet):
		reason = reconciler.JobSucceeded
	default:
		return
	}
	var commands []events.Command
	for _, pod := range p.job.Pods() {
		if idle(p.job, pod) {
			commands = append(commands, &events.DeletePod{Pod: pod.UID})
		}
	}
	p.Step(reason, fmt.Sprintf("the Job ends: delete its %s", pods(len(commands))), commands...)
}

// idle reports whether the pod is active and no removal of it has begun.
func idle(j *projector.Job, pod *projector.Pod) bool {
	return j.Claims(pod) && pod.Active() && !pod.Surplus && pod.Delete() == nil
}

// retryUnknownCreates continues creates of unknown outcome. Each holds its slot and index until it has ended. If the
// same pod is still wanted and there is room (J-047), it sends the create again under the same name. Otherwise it
// looks for the pod, but only after the server can no longer act on the request: a pod created after the look would go
// unnoticed, perhaps in a finished Job (J-009). A listing that shows the pod settles its create at once.
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
		case p.WakeAt(p.job.Creating().Until):
		case same:
			create := c.CreatePod
			create.Again = true
			again = append(again, &create)
		case !p.WakeAt(c.Sent.Add(p.job.Settings.RequestTimeout)):
			look = append(look, &events.ReadPod{Ordinal: c.Ordinal, Index: c.Index})
		}
	}
	if len(again) > 0 {
		p.Step(reconciler.OutcomeUnknown,
			fmt.Sprintf("the outcome of creating %s is unknown: create again under the same name", pods(len(again))), again...)
	}
	if len(look) > 0 {
		p.Step(reconciler.LookFirst,
			fmt.Sprintf("the outcome of creating %s is unknown: look by name", pods(len(look))), look...)
	}
}

// giveUp withdraws a create in backoff whose pod is no longer wanted as it was, so that the Job does not wait forever
// for it. When no pod is wanted at all, it withdraws all creates in flight, so that those not yet sent never are
// (J-164, J-011). The outcome of each create's newest try is still awaited.
func (p *plan) giveUp() {
	certain := !p.claiming || p.noneWanted() // certain: no pod that is yet to be adopted can change this
	if c := p.job.RetryingCreate(); c != nil && !c.Cancelled() && (certain || p.spared(c)) && !p.stillWanted(c) {
		p.Step(reconciler.NoLongerWanted, "a refused create is being retried, and is not wanted any more: withdraw it",
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
	p.Step(reconciler.NoLongerWanted,
		fmt.Sprintf("no pod is to be made any more: withdraw what was not sent of %s", pods(len(commands))), commands...)
}

// noneWanted reports whether it is certain that the Job needs no new pod: it is finished, deleted or suspended, or its
// end is stored.
func (p *plan) noneWanted() bool {
	j := p.job
	return j.Gone || j.Finished() || j.Deleted != 0 || (p.end != nil && j.Base.True(p.end.interim)) || (j.Spec != nil && j.Spec.Suspend)
}

// spared reports whether the create's index needs no pod. No pod that is yet to be adopted can change that.
func (p *plan) spared(c *projector.Create) bool { return p.job.Indexed && !p.job.Awaits(c.Index) }

func (p *plan) stillWanted(c *projector.Create) bool {
	j := p.job
	return !j.Gone && !j.Finished() && p.wantsPods() && p.asBefore(c) && len(j.Creates()) <= p.slots()
}

// asBefore reports whether the create would be issued again now unchanged: same template, an index that needs a pod,
// the same failure counts of the pod it replaces, and no backoff since (J-051, J-119).
func (p *plan) asBefore(c *projector.Create) bool {
	j := p.job
	now := events.CreatePod{Index: c.Index}
	return c.Template == j.Spec.Template && !p.spared(c) && !p.backsOff() && !p.waits(&now) &&
		now.IndexFailures == c.IndexFailures && now.IndexIgnoredFailures == c.IndexIgnoredFailures
}

// create creates pods up to the wanted number, as many at once as slow start allows (J-048 to J-057). It creates none
// while pods are being removed (J-049). A pod whose removal is in backoff holds its own slot only (J-074).
func (p *plan) create() {
	j := p.job
	if !p.wantsPods() || p.ungrouped || len(p.removing) > 0 || j.Removing() {
		return
	}
	missing := p.slots() - len(j.Creates())
	room := int(j.Window) - len(j.Creates())
	if missing <= 0 || room <= 0 || j.RetryingCreate() != nil || p.WakeAt(j.Creating().Until) || p.backsOff() {
		return
	}
	var commands []events.Command
	for _, index := range p.indexes(min(missing, int(j.Settings.MaxPodsPerDecision))) {
		c := &events.CreatePod{Ordinal: j.Ordinal + uint64(len(commands)) + 1, Index: index, Template: j.Spec.Template, InGroup: p.inGroup()}
		if p.waits(c) {
			continue // in backoff: the index keeps its slot (J-053)
		}
		if commands = append(commands, c); len(commands) == room {
			break
		}
	}
	if len(commands) > 0 && p.unsure() {
		return
	}
	p.making = len(commands)
	p.Step(reconciler.MorePodsWanted, fmt.Sprintf(
		"%d wanted, %d active, %d being created: create %d", p.wanted(), j.Tally().Active, len(j.Creates()), len(commands)), commands...)
}

// backsOff reports whether a failure delays new pods (J-051). With a limit per index, each index has its own delay,
// and backsOff is false.
func (p *plan) backsOff() bool { return !p.job.PerIndex && p.WakeAt(p.job.PodBackoffUntil()) }

// waits reports whether the index of new pod c is in backoff (J-109). It also copies the failure counts of the pod
// that c replaces into c (J-119).
func (p *plan) waits(c *events.CreatePod) bool {
	held := p.job.Held(c.Index) // only Jobs with a limit per index
	if held == nil {
		return false
	}
	c.IndexFailures, c.IndexIgnoredFailures = held.IndexFailures, held.IndexIgnoredFailures
	if held.Ignored() {
		c.IndexIgnoredFailures++
	} else {
		c.IndexFailures++
	}
	return p.WakeAt(p.job.IndexWait(held).Until)
}

// indexes returns the completion indexes of n new pods: the lowest free ones (J-052), or events.NoIndex if the Job is
// not Indexed.
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

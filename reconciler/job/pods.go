package job

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// wantsPods reports whether pods may be created or scaled down now (J-046). They may not while the Job ends or is being
// deleted, while a status write with the Job's end may have been stored (J-009), or while pods are adopted (J-018).
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
		return int(j.Tally().Active) // after the first success no pod is replaced
	}
	return int(j.Parallelism)
}

// windsDown reports whether a work queue Job (no spec.completions) has a success, or may have one: a pod that succeeded
// after its removal was refused may still count (J-074).
func (p *plan) windsDown() bool {
	return p.job.WorkQueue && (p.job.SucceededCount() > 0 || p.job.Tally().UnsureSucceeded > 0)
}

// slots returns how many more pods the Job may have. A slot is taken by an active pod, by an ended pod that may still
// count (J-074), and by a pod being deleted that may end by itself (J-022). With podReplacementPolicy Failed every
// terminating pod takes a slot (J-048).
func (p *plan) slots() int {
	t := p.job.Tally()
	taken := int(t.Active + t.Unsure + t.Stopping)
	if p.job.FailedOnly {
		taken += int(t.Terminating)
	}
	return p.wanted() - taken
}

// deleteActive deletes the active pods of a Job that fails, or that succeeds with pods left over. It first waits until
// the interim condition is stored, because an end that is not stored may still be replaced by another one without a
// trace (design §5). The pods keep their finalizer. They count as failed if the Job fails (J-079), and not at all if
// it succeeds (J-142). Once the Job may be finished, no pod is deleted (J-082).
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

// idle reports whether the pod is the Job's and active, and its removal has not begun.
func idle(j *projector.Job, pod *projector.Pod) bool {
	return j.Claims(pod) && pod.Active() && !pod.Surplus && pod.Delete() == nil
}

// retryUnknownCreates resolves pod creations with unknown outcome. Each one keeps its index, and its slot (one of the
// pods that the Job may have), until it is resolved. If the same pod is still wanted and there is a slot (J-047), the
// creation is repeated under the same name.
//
// Otherwise the pod is looked up by name, but only once the server can no longer execute the request: a pod created
// after the lookup would go unnoticed, perhaps in a finished Job (J-009). If a listing shows the pod, its creation is
// resolved at once.
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

// giveUp withdraws a refused pod creation that waits for another attempt, if its pod is no longer wanted as it was. So
// the Job does not wait for it for ever. If the Job wants no pod at all, giveUp withdraws all creations, also those not
// yet sent (J-164, J-011). In both cases the outcome of a request that was sent is still awaited.
func (p *plan) giveUp() {
	// Certain means that the pods still to be adopted cannot change what the Job wants
	certain := !p.claiming || p.noneWanted()
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

// noneWanted reports whether the Job certainly needs no new pod: it is finished, deleted or suspended, or the condition
// that it ends is stored.
func (p *plan) noneWanted() bool {
	j := p.job
	return j.Gone || j.Finished() || j.Deleted != 0 || (p.end != nil && j.Base.True(p.end.interim)) || (j.Spec != nil && j.Spec.Suspend)
}

// spared reports whether the creation is for an index that needs no pod any more. Adopting further pods cannot change
// that.
func (p *plan) spared(c *projector.Create) bool { return p.job.Indexed && !p.job.Awaits(c.Index) }

func (p *plan) stillWanted(c *projector.Create) bool {
	j := p.job
	return !j.Gone && !j.Finished() && p.wantsPods() && p.asBefore(c) && len(j.Creates()) <= p.slots()
}

// asBefore reports whether the creation c would be decided again now: with the same template, for an index that still
// needs a pod, with the same failure counts from the pod that it replaces, and without a backoff since then (J-051,
// J-119).
func (p *plan) asBefore(c *projector.Create) bool {
	j := p.job
	now := events.CreatePod{Index: c.Index}
	return c.Template == j.Spec.Template && !p.spared(c) && !p.backsOff() && !p.waits(&now) &&
		now.IndexFailures == c.IndexFailures && now.IndexIgnoredFailures == c.IndexIgnoredFailures
}

// create creates pods up to the wanted number, but at once only as many as slow start allows (J-048 to J-057). It
// creates none while pods are being removed (J-049). A pod whose removal is in backoff only takes its own slot (one of
// the pods that the Job may have) (J-074).
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

// backsOff reports whether new pods must wait, because a pod failed recently (J-051). If the Job has a
// backoffLimitPerIndex, each index waits for itself, and backsOff returns false.
func (p *plan) backsOff() bool { return !p.job.PerIndex && p.WakeAt(p.job.PodBackoffUntil()) }

// waits reports whether the new pod c must wait, because a pod of its index failed recently (J-109). It also copies
// into c the failure counts of the pod that c replaces (J-119).
func (p *plan) waits(c *events.CreatePod) bool {
	held := p.job.Held(c.Index) // set only with backoffLimitPerIndex
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

package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// podRule is one reason to create or delete pods. It reports whether it asked for a deletion.
type podRule struct {
	name string
	run  func(*plan) bool
}

// managePods asks every rule in order. Once one asks for a deletion, no pod is made in this decision (J-049).
func (p *plan) managePods() {
	for _, r := range podRules {
		if r.run(p) {
			return
		}
	}
}

// wantsPods reports whether pods may be made and scaled at all (J-046).
func (p *plan) wantsPods() bool { return p.end == nil && p.job.Deleted == 0 }

// wanted is how many pods should be active (J-047).
func (p *plan) wanted() int {
	j := p.job
	switch {
	case j.Spec.Suspend:
		return 0
	case !j.WorkQueue():
		return int(max(0, min(j.Completions()-j.SucceededCount(), j.Parallelism())))
	case j.SucceededCount() > 0:
		return int(j.Tally().Active) + len(j.Creates()) // after the first success neither more nor fewer
	}
	return int(j.Parallelism())
}

// deleteActive deletes the active pods of a failing Job. They keep their finalizer and are counted as failed (J-079).
func (p *plan) deleteActive() bool {
	if p.end == nil || !p.end.failure() || p.job.Tally().Idle == 0 || p.wake(p.job.Podding.Until) {
		return false
	}
	var commands []events.Command
	for _, pod := range p.job.Pods() {
		if idle(p.job, pod) {
			commands = append(commands, &events.DeletePod{Pod: pod.UID})
		}
	}
	p.step("pods", "deleteActive", JobFailing, fmt.Sprintf("the Job fails: delete its %s", pods(len(commands))), commands...)
	return true
}

// idle reports whether the pod is active and nothing is being done to it.
func idle(j *projector.Job, pod *projector.Pod) bool {
	return j.Claims(pod) && pod.Active() && !pod.Doomed && pod.Delete == nil
}

// settleInDoubt goes on with creates whose end nobody knows. Each holds its slot and its index until it is settled: it is
// asked again under the same name while it is still wanted as it was; else its pod is looked for, not before the server
// can no longer act on the request.
func (p *plan) settleInDoubt() bool {
	var again, look []events.Command
	for _, c := range p.job.Creates() {
		if c.Flight != nil {
			continue
		}
		same := c.Template == p.job.Spec.Template && !c.MustList && p.wantsPods() && !p.job.Spec.Suspend
		switch {
		case p.wake(p.job.Creating.Until):
		case same:
			create := c.CreatePod
			create.Again = true
			again = append(again, &create)
		case !p.wake(c.Sent.Add(p.job.Settings.RequestTimeout)):
			look = append(look, &events.ReadPod{Ordinal: c.Ordinal, Index: c.Index})
		}
	}
	p.step("pods", "settleInDoubt", OutcomeUnknown,
		fmt.Sprintf("nobody knows what came of creating %s: ask again under the same name", pods(len(again))), again...)
	p.step("pods", "settleInDoubt", LookFirst,
		fmt.Sprintf("nobody knows what came of creating %s: look for them by name", pods(len(look))), look...)
	return false
}

// create makes pods up to the number wanted, as many at once as slow start allows (J-048 to J-057).
func (p *plan) create() bool {
	j := p.job
	if !p.wantsPods() {
		return false
	}
	t := j.Tally()
	missing := p.wanted() - int(t.Active) - len(j.Creates())
	if j.FailedOnly() {
		missing -= int(t.Terminating)
	}
	if missing <= 0 || p.wake(max(j.PodBackoffUntil(), j.Creating.Until)) {
		return false
	}
	n := min(missing, int(j.Window)-len(j.Creates()), int(j.Settings.MaxPodsPerDecision))
	if n <= 0 {
		return false
	}
	commands := make([]events.Command, 0, n)
	for _, index := range p.indexes(n) {
		commands = append(commands, &events.CreatePod{
			Ordinal: j.Ordinal + uint64(len(commands)) + 1, Index: index, Template: j.Spec.Template,
		})
	}
	p.step("pods", "create", MorePodsWanted, fmt.Sprintf(
		"%d wanted, %d active, %d being created: create %d", p.wanted(), t.Active, len(j.Creates()), len(commands)), commands...)
	return false
}

// indexes are the completion indexes of n new pods, the lowest that need one (J-052); of a Job that is not Indexed, none.
func (p *plan) indexes(n int) []int32 {
	if p.job.Indexed() {
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

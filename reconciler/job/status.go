package job

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// readFirst requests a read of the Job after a failed status write, before the next write.
func (p *plan) readFirst() {
	if p.mayWrite() && p.job.Look {
		p.reading = true
		p.Step(reconciler.StaleView, "the last status write did not go through: read the Job first", &events.ReadJob{})
	}
}

// writeStatus issues a status write when one of writeReasons holds. At most one write is in flight; later changes go
// into the next one.
func (p *plan) writeStatus() {
	if !p.mayWrite() {
		return
	}
	p.closing = p.close()
	finishing := p.closing == concludes
	reason, sentence, due := p.due(finishing)
	if !due {
		return
	}
	change := p.account(finishing)
	p.conclude(&change, finishing)
	p.suspend(&change)
	if empty(&change) {
		return
	}
	if p.end != nil {
		p.Rule = p.end.rule
	}
	p.Step(reason, sentence, &events.WriteStatus{Base: p.job.Version, Change: change})
}

// mayWrite reports whether a status write may be issued now: no write is in flight or in backoff, and no read of the
// Job is pending.
func (p *plan) mayWrite() bool {
	j := p.job
	return j.Write() == nil && j.Reading() == nil && !p.reading && !p.WakeAt(j.Writing().Until)
}

// canFinish reports whether the terminal condition may be written, apart from pods with finalizers: the Job ends, no
// pod of it runs or terminates, and no command with unknown outcome remains (J-163, design §6). It waits for
//   - commands in flight: a deletion that is sent later would delete a pod of a finished Job (J-082);
//   - pod creations with unknown outcome, and LatePod (the time until which a late pod may appear): a pod created later
//     would belong to a finished Job, and would never be deleted (J-082).
//
// It does not wait for a pod deletion with unknown outcome. The pod of that deletion has ended (otherwise it would be
// active or terminating), so the deletion changes no count and no condition. If the deletion takes effect later, the
// pod and its logs are lost. The same happens with the built-in controller if a pod ends just before the DELETE
// arrives.
func (p *plan) canFinish() bool {
	t := p.job.Tally()
	return p.end != nil && !p.claiming && t.Active == 0 && t.Terminating == 0 && !p.job.PodsInDoubt() && !p.WakeAt(p.job.LatePod)
}

// writeReason is one reason to write the status now. It returns the reason, a sentence for users, and whether it
// applies. finishing says that the write would finish the Job.
type writeReason func(p *plan, finishing bool) (events.Reason, string, bool)

// due returns the first of the writeReasons that applies, with its sentence; false if none applies.
func (p *plan) due(finishing bool) (events.Reason, string, bool) {
	for _, holds := range writeReasons {
		if reason, sentence, due := holds(p, finishing); due {
			return reason, sentence, true
		}
	}
	return "", "", false
}

func finishes(p *plan, finishing bool) (events.Reason, string, bool) {
	if !finishing {
		return "", "", false
	}
	return p.end.reason, p.end.message + ": count what is left and conclude", true
}

func ends(p *plan, _ bool) (events.Reason, string, bool) {
	if p.end == nil || p.end.stored || p.closing == almostDone {
		return "", "", false
	}
	return p.end.reason, p.end.message + ": say so before its pods go", true
}

func suspends(p *plan, _ bool) (events.Reason, string, bool) {
	c := p.suspension()
	if c == nil {
		return "", "", false
	}
	return events.Reason(c.Reason), c.Message + ": say so at once", true
}

func podsWait(p *plan, _ bool) (events.Reason, string, bool) {
	urgent := p.job.Tally().Urgent
	if urgent == 0 {
		return "", "", false
	}
	return reconciler.PodsWait, fmt.Sprintf("%s being deleted wait to be counted", pods(urgent)), true
}

// manyWait is a reason to write if at least Settings.MaxUncounted pods wait to be counted, and one write counts at
// least half of them.
func manyWait(p *plan, _ bool) (events.Reason, string, bool) {
	unlisted, countable := p.job.UnlistedLen(), p.job.Tally().Countable
	waiting := unlisted + countable
	if waiting < int(p.job.Settings.MaxUncounted) || 2*(min(unlisted, p.room(countable))+countable) < waiting {
		return "", "", false
	}
	return reconciler.ManyUncounted, fmt.Sprintf("%s wait to be counted", pods(waiting)), true
}

func fallenBehind(p *plan, _ bool) (events.Reason, string, bool) {
	since, delay := p.job.Lagging, p.job.Settings.ProgressDelay
	if since == 0 {
		return "", "", false
	}
	switch at := since.Add(delay); {
	// If another controller runs the Job, and we only compare, there is no turn to wait for: it writes when it likes
	case projector.Compared(p.job):
		if p.WakeAt(at) {
			return "", "", false
		}
	case !p.Woken || at > p.Now:
		p.Decision.Progress = at
		return "", "", false
	}
	return reconciler.Progress, fmt.Sprintf("the status has been behind for %s", delay), true
}

// account returns the change that brings the published counters up to date. While pods are active, a pod is counted in
// two steps, so that after a crash it is neither counted twice nor missed (J-085):
//   - This write adds the pod's UID (for a success with an index: the index) to the status.
//   - Once the server has stored it, the pod's finalizer is removed. A later write moves the UID to the counter.
//
// A write that finishes the Job counts its pods at once, because no later write will.
func (p *plan) account(finishing bool) events.StatusChange {
	j := p.job
	t := j.Tally()
	c := events.StatusChange{InitUncounted: !j.Base.HasUncounted}
	// This decision starts to remove these pods, so the status that it writes shows them as terminating, not as active
	for pod := range p.removing {
		t.Going++
		if pod.Ready {
			t.GoingReady++
		}
	}
	active, ready, terminating := t.Shown()
	c.Active, c.Ready, c.Terminating = differs(j.Base.Active, active), differs(j.Base.Ready, ready), differs(j.Base.Terminating, terminating)
	succeeded, failed := j.Base.Succeeded, j.Base.Failed
	count := func(uids []types.UID, counter *int32) {
		for _, uid := range uids {
			if finishing || j.Countable(uid) {
				c.Counted = append(c.Counted, uid)
				*counter++
			}
		}
	}
	count(j.Base.UncountedSucceeded, &succeeded)
	count(j.Base.UncountedFailed, &failed)

	room := max(p.room(len(c.Counted)), 1) // at least one, so that every write makes progress (J-092)
	var completed indexset.Set
	for pod := range j.Unlisted() {
		byIndex := j.Indexed && pod.Phase == events.PodSucceeded
		// Capped: the pod needs space in the UID lists. It needs none in a write that finishes the Job, and none if it
		// is listed by index and no pod runs any more (letsGo)
		capped := !finishing && !(byIndex && p.closing == letsGo)
		if capped && room == 0 && p.closing != letsGo {
			break
		}
		if (capped && room == 0) || (p.claiming && pod.FailsJob()) {
			// Leave the pod to a later write, if there is no space, or if this pod will fail the Job once the adoption
			// of pods is over. It keeps its finalizer until the write that fails the Job because of it (J-096, J-097)
			continue
		}
		if capped {
			room--
		}
		switch {
		case byIndex:
			completed.Add(pod.Index)
		case pod.Phase == events.PodSucceeded && finishing:
			succeeded++
		case pod.Phase == events.PodSucceeded:
			c.AddSucceeded = append(c.AddSucceeded, pod.UID)
		case finishing:
			failed++
		default:
			c.AddFailed = append(c.AddFailed, pod.UID)
		}
	}
	if finishing {
		failed += heldFailures(j)
	}
	p.accountFailedIndexes(&c)
	if j.Indexed {
		succeeded = p.accountIndexes(&c, &completed)
	}
	c.Succeeded, c.Failed = differs(j.Base.Succeeded, succeeded), differs(j.Base.Failed, failed)
	return c
}

// heldFailures returns the number of failed pods that keep their finalizer until their index gets a new pod, which
// takes over their failure count. Pods that the podFailurePolicy ignores are left out.
func heldFailures(j *projector.Job) (n int32) {
	for pod := range j.HeldAll() {
		if !pod.Ignored() {
			n++
		}
	}
	return n
}

// accountIndexes adds to the status write c the completed indexes. It returns the new number of completed indexes.
func (p *plan) accountIndexes(c *events.StatusChange, completed *indexset.Set) (succeeded int32) {
	j := p.job
	c.CompleteIndexes = completed.Text()
	after := j.Base.Completed.Clone()
	after.AddAll(completed)
	if !after.Below(j.Completions) || !j.Base.FailedIndexes.Below(j.Completions) {
		limit := j.Completions
		c.TrimTo = &limit
		after.Trim(limit)
	}
	if succeeded = after.Len(); !j.MayLower {
		succeeded = max(succeeded, j.Base.Succeeded)
	}
	return succeeded
}

// room returns how many pods a status write may add to the lists uncountedTerminatedPods, if it moves `counted` pods
// from these lists to the counters.
func (p *plan) room(counted int) int {
	base := &p.job.Base
	return int(p.job.Settings.MaxUncounted) - len(base.UncountedSucceeded) - len(base.UncountedFailed) + counted
}

// accountFailedIndexes adds to the status write c the failed indexes, if the Job has a backoffLimitPerIndex (J-117).
// Otherwise it clears the field (J-040).
func (p *plan) accountFailedIndexes(c *events.StatusChange) {
	j := p.job
	if !j.PerIndex {
		c.ClearFailedIndexes = j.Base.HasFailedIndexes
		return
	}
	c.SetFailedIndexes = !j.Base.HasFailedIndexes
	news := j.NewlyFailed()
	c.FailIndexes = news.Text()
}

// conclude adds to the status write c the start time and, if the Job ends, its conditions and completion time.
func (p *plan) conclude(c *events.StatusChange, finishing bool) {
	j := p.job
	now := p.Now.Second()
	start := j.Base.StartTime
	if start == 0 {
		start = j.Start.Second()
		if start == 0 && finishing && (j.WorkQueue || j.Completions > 0) {
			// A suspended Job has no start time, and the server rejects a finish without one (J-156, J-252)
			start = now
		}
		c.StartTime = start
	}
	if p.end == nil {
		return
	}
	condition := events.JobCondition{
		Status: "True", Reason: string(p.end.reason), Message: p.end.message, Since: now, Probed: now,
	}
	if !p.end.stored {
		condition.Type = p.end.interim
		c.Conditions = append(c.Conditions, condition)
	}
	if !finishing {
		return
	}
	condition.Type = p.end.terminal
	if !p.end.failure() {
		c.CompletionTime = max(now, start) // J-170: never before the start
		condition.Since, condition.Probed = c.CompletionTime, c.CompletionTime
	}
	c.Conditions = append(c.Conditions, condition)
}

// empty reports whether the write would change nothing. Such a write is never issued (J-019).
func empty(c *events.StatusChange) bool { return reflect.DeepEqual(*c, events.StatusChange{}) }

// differs returns the new value of a counter, or nil if it is unchanged.
func differs(before, after int32) *int32 {
	if before == after {
		return nil
	}
	return &after
}

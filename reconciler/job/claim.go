package job

import (
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// releaseDisowned releases pods whose labels the selector no longer matches: they lose their owner and finalizer, and
// are not counted (J-174). The command carries the pod's version. So if the labels are restored before the command
// reaches the server, the command fails.
func (p *plan) releaseDisowned() {
	j := p.job
	if j.DisownedLen() == 0 || j.Tally().Releasing > 0 {
		return
	}
	var commands []events.Command
	for _, pod := range p.claimable(j.Disowned()) {
		commands = append(commands, &events.ReleasePod{Pod: pod.UID, Version: pod.Version})
	}
	p.Step(reconciler.NotSelected, fmt.Sprintf("the selector does not match %s: release", pods(len(commands))), commands...)
}

// confirm finds the pods that the Job is to adopt now. Before an adoption, a read of the Job must show that it is not
// being deleted (J-176). Until then no rule that depends on the Job's set of pods runs (J-018). These rules do not wait
// for a pod whose adoption the server denied, because such a pod could block the Job for ever.
func (p *plan) confirm() {
	j := p.job
	if j.Tally().Adopting > 0 {
		p.claiming = true
		return
	}
	if j.OrphanedLen() == 0 || p.concluding() {
		return
	}
	inDoubt := p.WakeAt(j.EndInDoubt) // a status write with unknown outcome may have ended the Job
	for pod := range j.Orphaned() {
		if r := j.Claiming(pod.UID); (inDoubt || r.Until > p.Now) && !r.Denied() {
			p.claiming = true
			break
		}
	}
	if inDoubt {
		return
	}
	due := p.claimable(j.Orphaned())
	if len(due) == 0 {
		return
	}
	// If the read must wait for the backoff that it shares with status writes, adopt nothing yet
	if p.WakeAt(j.Writing().Until) {
		if !j.Writing().Denied() {
			p.claiming = true
		}
		return
	}
	p.claiming = true
	switch {
	case j.Confirmed == p.Now:
		p.adopting = due
	case j.Reading() == nil:
		p.reading = true
		p.Step(reconciler.JobUnconfirmed,
			fmt.Sprintf("the Job selects %s without an owner: read the Job first", pods(j.OrphanedLen())), &events.ReadJob{})
	}
}

// adopt gives orphan pods that match the selector this Job as owner (J-175).
func (p *plan) adopt() {
	if len(p.adopting) == 0 {
		return
	}
	var commands []events.Command
	for _, pod := range p.adopting {
		commands = append(commands, &events.AdoptPod{
			Pod: pod.UID, Version: pod.Version, Spent: pod.Counted, Mark: pod.Maker != p.job.Ref.UID,
		})
	}
	p.Step(reconciler.OwnerGone, fmt.Sprintf("the Job selects %s without an owner: adopt", pods(len(commands))), commands...)
}

// claimable returns the pods of `all` to adopt or release now: pods whose backoff is over. If there is at least one, it
// adds pods whose backoff ends within half of Settings.APIBackoff. So pods that were refused at about the same time
// share one read of the Job. If there is none, it sets the time of the next evaluation.
func (p *plan) claimable(all iter.Seq[*projector.Pod]) []*projector.Pod {
	var due, soon []*projector.Pod
	var next events.Time
	for pod := range all {
		switch until := p.job.Claiming(pod.UID).Until; {
		case until <= p.Now:
			due = append(due, pod)
		case until <= p.Now.Add(p.job.Settings.APIBackoff/2):
			soon = append(soon, pod)
			next = earlier(next, until)
		default:
			next = earlier(next, until)
		}
		if len(due) == int(p.job.Settings.MaxPodsPerDecision) {
			return due
		}
	}
	if len(due) == 0 {
		p.WakeAt(next)
		return nil
	}
	return append(due, soon[:min(len(soon), int(p.job.Settings.MaxPodsPerDecision)-len(due))]...)
}

// earlier returns the earlier of two times, where 0 means no time.
func earlier(a, b events.Time) events.Time {
	if a == 0 || b < a {
		return b
	}
	return a
}

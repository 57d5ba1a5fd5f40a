package reconciler

import (
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// releaseDisowned releases pods whose labels the selector no longer matches: they lose owner and finalizer, and are not
// counted (J-174). The pod's version keeps a release that arrives late from one whose labels were given back.
func (p *plan) releaseDisowned() {
	j := p.job
	if j.DisownedLen() == 0 || j.Tally().Releasing > 0 {
		return
	}
	var commands []events.Command
	for _, pod := range p.claimable(j.Disowned()) {
		commands = append(commands, &events.ReleasePod{Pod: pod.UID, Version: pod.Version})
	}
	p.step(NotSelected, fmt.Sprintf("the selector does not match %s: release", pods(len(commands))), commands...)
}

// confirm finds the pods that the Job is to adopt now. First a live read has to find that it is not being deleted
// (J-176). What rests on which pods are the Job's waits meanwhile (J-018), but not for a refusal that waiting does not
// help against: else one pod could stop the Job for good.
func (p *plan) confirm() {
	j := p.job
	if j.Tally().Adopting > 0 {
		p.claiming = true
		return
	}
	if j.OrphanedLen() == 0 || p.concluding() {
		return
	}
	inDoubt := p.wake(j.EndInDoubt) // the Job may be over
	for pod := range j.Orphaned() {
		if r := j.Claiming(pod.UID); (inDoubt || r.Until > p.now) && !r.Denied() {
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
	if p.wake(j.Writing().Until) { // which is also that of reads
		if !j.Writing().Denied() {
			p.claiming = true
		}
		return
	}
	p.claiming = true
	switch {
	case j.Confirmed == p.now:
		p.adopting = due
	case j.Reading() == nil:
		p.reading = true
		p.step(JobUnconfirmed,
			fmt.Sprintf("the Job selects %s without an owner: read the Job first", pods(j.OrphanedLen())), &events.ReadJob{})
	}
}

// adopt makes pods without an owner the Job's (J-175).
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
	p.step(OwnerGone, fmt.Sprintf("the Job selects %s without an owner: adopt", pods(len(commands))), commands...)
}

// claimable are the pods whose turn has come, of those that are to be adopted or released: whose backoff is over, and
// when it is of one, those of which it is soon, so that one read serves for pods that were refused together.
func (p *plan) claimable(all iter.Seq[*projector.Pod]) []*projector.Pod {
	var due, soon []*projector.Pod
	var next events.Time
	for pod := range all {
		switch until := p.job.Claiming(pod.UID).Until; {
		case until <= p.now:
			due = append(due, pod)
		case until <= p.now.Add(p.job.Settings.APIBackoff/2):
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
		p.wake(next)
		return nil
	}
	return append(due, soon[:min(len(soon), int(p.job.Settings.MaxPodsPerDecision)-len(due))]...)
}

// earlier is the earlier of two times; 0 is none.
func earlier(a, b events.Time) events.Time {
	if a == 0 || b < a {
		return b
	}
	return a
}

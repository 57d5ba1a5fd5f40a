package projector

import "github.com/jobledger/jobledger/events"

// enter adds the pod to the tallies and puts it into the queue of its stage. Call leave before the pod changes, and
// enter afterwards.
func (j *Job) enter(p *Pod) {
	was := p.in
	j.facts(p)
	j.match(p)
	if p.Leaving() {
		j.LatePod = max(j.LatePod, p.LateCreate)
	}
	stage := j.stageOf(p)
	watched := j.Observed()
	elsewhere := watched && stage == Released && j.countedElsewhere(p)
	j.enterStage(p, stage)
	j.enterStopping(p)
	if p.stage == Unlisted {
		p.in.freshSucceeded = p.Phase == events.PodSucceeded
		p.in.freshFailed = !p.in.freshSucceeded
		// A pod that a status write in flight accounts for may have lost its valid index
		p.in.completing, p.in.completes = p.in.freshSucceeded && j.indexValid(p), p.Index
		p.in.urgent = p.Deleted != 0
	}
	p.in.heldCounted = p.stage == Holding && !p.Ignored()
	// The end of a failed pod also goes into the backoff record if a rule ignores the failure: it delays new pods, too
	// (J-105). A held-back pod is there already, because it was unlisted before
	ignored := p.Held() && p.Ignored() && !p.Surplus && j.indexValid(p)
	switch {
	case p.stage == Unlisted || ignored || elsewhere:
		j.note(p)
		if watched {
			j.renote(p)
		}
	case p.noted && !j.indexValid(p) && !j.accounted(p):
		j.unnote(p)
	}
	j.tell(p, 1)
	if j.Indexed {
		if was.completing && !(p.in.completing && p.in.completes == was.completes) {
			j.uncomplete(was.completes)
		}
		if p.in.completing {
			j.complete(p.in.completes)
		}
	}
	j.reviewIndex(p.Index)
}

package projector

import "github.com/jobledger/jobledger/events"

// enter recomputes what a pod adds to the Job's counts, and moves the pod to the queue of its stage (how far it is on
// its way into the status). Call leave before the pod changes, and enter after the change.
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
		// Check the index again: it may have become invalid since the status write in flight, which lists the pod, was
		// sent
		p.in.completing, p.in.completes = p.in.freshSucceeded && j.indexValid(p), p.Index
		p.in.urgent = p.Deleted != 0
	}
	p.in.heldCounted = p.stage == Holding && !p.Ignored()
	// The end of a failed pod delays new pods even if a podFailurePolicy rule ignores the failure, so it also goes into
	// the backoff record (J-105). A pod that is held back until its replacement exists is in that record already
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

package reconciler

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// closing is how far a Job that ends has come with the finalizers of its pods (J-085).
type closing uint8

const (
	goesOn     closing = iota // the Job goes on, or something of it runs, is on its way out or is in doubt
	letsGo                    // nothing does. Too many pods carry their finalizer: they are counted in lists, and the finalizers go
	almostDone                // as before, and the removals that are on their way are enough
	concludes                 // few enough pods carry it: one write counts what is left and concludes
)

// close finds how far the Job has come. Whoever waits for its end may delete it then, uninstall, or switch the
// controller off. So no more than Settings.HeldAtEnd pods may need the controller after it.
func (p *plan) close() closing {
	t := p.job.Tally()
	most := int(p.job.Settings.HeldAtEnd)
	switch {
	case !p.canFinish():
		return goesOn
	case !p.job.ManyHeld():
		return concludes
	case t.Held-t.Dropping <= most && p.job.ReleasedLen() == 0: // what this decision lets go may be in doubt from then on
		return almostDone
	}
	return letsGo
}

// emptying: the Job has ended but for the finalizers of its pods. A write is made when it lists all pods that are left,
// or half of what the lists hold.
func emptying(p *plan, _ bool) (events.Reason, string, bool) {
	unlisted := p.job.UnlistedLen()
	if p.closing != letsGo || unlisted == 0 {
		return "", "", false
	}
	room := p.room(p.job.Tally().Countable)
	if p.job.Indexed { // most are successes, which need no room
		room = unlisted
	}
	if room < min(unlisted, int(p.job.Settings.MaxUncounted+1)/2) {
		return "", "", false
	}
	return ManyUncounted, fmt.Sprintf("the Job ends when most of its pods have lost their finalizer: list %s", pods(unlisted)), true
}

// manyHeld: a good part of the pods that carry their finalizer has ended. They are counted as the Job goes on, so that
// few carry it when the last one ends: a tenth of those that do, and no fewer than may do so at the end. When no more
// pods will be made, the portions are half as big. A status that has lagged for less than a second (Settings.ListPace)
// is not written for that, but when so few pods still run that the end is near: the verdict waits for the finalizers
// then.
func manyHeld(p *plan, _ bool) (events.Reason, string, bool) {
	j := p.job
	t := j.Tally()
	most := int(j.Settings.HeldAtEnd)
	if !j.ManyHeld() || p.end != nil || j.Spec.Suspend {
		return "", "", false
	}
	last := p.lastPods()
	if nearEnd := last && int(t.Active) <= most; !nearEnd && j.Lagging.Add(j.Settings.ListPace) > p.now {
		return "", "", false
	}
	portion := max(most, t.Held/10)
	if last {
		portion = max(portion/2, 1)
	}
	unlisted := j.UnlistedLen()
	if min(unlisted, p.room(t.Countable)) < portion {
		return "", "", false
	}
	return ManyUncounted, fmt.Sprintf("many pods carry their finalizer: list %s that ended", pods(unlisted)), true
}

// lastPods reports whether the Job ends when the pods that run, or are being made, succeed.
func (p *plan) lastPods() bool {
	j := p.job
	if j.WorkQueue {
		return j.SucceededCount() > 0
	}
	return int(j.Completions-j.SucceededCount()) <= int(j.Tally().Active)+len(j.Creates())+p.making
}

package job

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
)

// closing says how far an ending Job is with the finalizers of its pods (J-085).
type closing uint8

const (
	goesOn     closing = iota // the Job does not end yet: a pod runs or terminates, or a command is in doubt
	letsGo                    // nothing runs, but too many pods carry the finalizer: list them, remove finalizers
	almostDone                // as letsGo, but the removals in flight suffice
	concludes                 // few enough pods carry the finalizer: one write counts the rest and finishes the Job
)

// close finds the stage of closing. After the Job has finished, its waiter may delete it, uninstall the controller or
// switch it off. So at most Settings.HeldAtEnd pods may still need the controller then.
func (p *plan) close() closing {
	t := p.job.Tally()
	most := int(p.job.Settings.HeldAtEnd)
	switch {
	case !p.canFinish():
		return goesOn
	case !p.job.ManyHeld():
		return concludes
	case t.Held-t.Dropping <= most && p.job.ReleasedLen() == 0: // removals of this decision may end unknown
		return almostDone
	}
	return letsGo
}

// emptying writes the status while only finalizers keep the Job from finishing. The write is due when it lists all
// unlisted pods, or at least half of Settings.MaxUncounted.
func emptying(p *plan, _ bool) (events.Reason, string, bool) {
	unlisted := p.job.UnlistedLen()
	if p.closing != letsGo || unlisted == 0 {
		return "", "", false
	}
	room := p.room(p.job.Tally().Countable)
	if p.job.Indexed { // most are successes, which take no room in the lists
		room = unlisted
	}
	if room < min(unlisted, int(p.job.Settings.MaxUncounted+1)/2) {
		return "", "", false
	}
	return reconciler.ManyUncounted, fmt.Sprintf("the Job ends when most of its pods have lost their finalizer: list %s", pods(unlisted)), true
}

// manyHeld counts ended pods while the Job goes on, so that few carry a finalizer when the last pod ends. A portion is
// a tenth of the pods with a finalizer, and at least Settings.HeldAtEnd; it is halved once the Job needs no more pods.
// Example: with 1000 such pods and HeldAtEnd 50, a write counts 100.
//
// The write waits while the status has lagged for less than Settings.ListPace (1 s). It does not wait when at most
// HeldAtEnd pods still run and no more are needed, since the verdict then waits for finalizers.
func manyHeld(p *plan, _ bool) (events.Reason, string, bool) {
	j := p.job
	t := j.Tally()
	most := int(j.Settings.HeldAtEnd)
	if !j.ManyHeld() || p.end != nil || j.Spec.Suspend {
		return "", "", false
	}
	last := p.lastPods()
	if nearEnd := last && int(t.Active) <= most; !nearEnd && j.Lagging.Add(j.Settings.ListPace) > p.Now {
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
	return reconciler.ManyUncounted, fmt.Sprintf("many pods carry their finalizer: list %s that ended", pods(unlisted)), true
}

// lastPods reports whether the Job ends if all running pods, and all pods being created, succeed.
func (p *plan) lastPods() bool {
	j := p.job
	if j.WorkQueue {
		return j.SucceededCount() > 0
	}
	return int(j.Completions-j.SucceededCount()) <= int(j.Tally().Active)+len(j.Creates())+p.making
}

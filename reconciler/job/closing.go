package job

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
)

// closing is how far an ending Job has come with removing the tracking finalizers of its pods (J-085).
type closing uint8

const (
	goesOn     closing = iota // the Job goes on, or a pod runs or terminates, or a command's outcome is unknown
	letsGo                    // no pod runs, but too many have the finalizer: count them, then remove finalizers
	almostDone                // as for letsGo, but the removals already in flight suffice
	concludes                 // few pods have the finalizer: one status write counts them and finishes the Job
)

// close returns how far the ending Job has come with removing its pods' finalizers. Once the Job has finished, a user
// may delete it, or stop or uninstall this controller. So when it finishes, at most Settings.HeldAtEnd pods may still
// need the controller to remove their finalizer.
func (p *plan) close() closing {
	t := p.job.Tally()
	most := int(p.job.Settings.HeldAtEnd)
	switch {
	case !p.canFinish():
		return goesOn
	case !p.job.ManyHeld():
		return concludes
	// Count only removals in flight: those decided now may still fail
	case t.Held-t.Dropping <= most && p.job.ReleasedLen() == 0:
		return almostDone
	}
	return letsGo
}

// emptying is a reason for a status write: only finalizers keep the Job from finishing, and pods may lose theirs once
// the status lists them. The write is due if it lists all ended pods that the status does not list yet, or at least
// half of Settings.MaxUncounted.
func emptying(p *plan, _ bool) (events.Reason, string, bool) {
	unlisted := p.job.UnlistedLen()
	if p.closing != letsGo || unlisted == 0 {
		return "", "", false
	}
	room := p.room(p.job.Tally().Countable)
	// The ended pods of an Indexed Job are mostly successes, which are listed by index and take no space in the UID
	// lists
	if p.job.Indexed {
		room = unlisted
	}
	if room < min(unlisted, int(p.job.Settings.MaxUncounted+1)/2) {
		return "", "", false
	}
	return reconciler.ManyUncounted, fmt.Sprintf("the Job ends when most of its pods have lost their finalizer: list %s", pods(unlisted)), true
}

// manyHeld is a reason for a status write while the Job continues: it lists ended pods, so that few still have a
// finalizer when the last one ends. A write must list at least a tenth of the pods with a finalizer, and at least
// Settings.HeldAtEnd pods. This number is halved once the Job needs no more pods. Example: 1000 pods have a finalizer,
// and HeldAtEnd is 50: a write is due when it lists 100.
//
// The write waits until the status has been out of date for Settings.ListPace (1 s). It does not wait at the end of the
// Job, when no more pods are needed and at most HeldAtEnd still run, because then only finalizers delay the Job.
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

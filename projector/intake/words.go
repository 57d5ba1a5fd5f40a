package intake

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Words are the parts of a pod's object that no decision reads: why the pod waits, and conditions that no
// podFailurePolicy rule of its Job names. They change often while a healthy pod starts. So Admit drops an observation
// in which only words are new. If the words are still the same after a while, the caller has AdmitWords record them.

// Words reports whether an observation of a pod shows nothing new except words.
func (in *Intake) Words(o *events.Observation) bool {
	f, ok := o.Facts.(*events.PodSeen)
	if !ok {
		return false
	}
	f, stream, ours := in.route(o, f)
	home, p := in.World.WhereIs(f.UID)
	return ours && p != nil && home.ID() == stream && p.Seen && !p.Gone && f.Version >= p.Version &&
		samePod(home, p, f) && otherWords(p, f)
}

// AdmitWords returns the records for an observation of a pod, also if only its words are new; none if nothing is new.
func (in *Intake) AdmitWords(o *events.Observation) []projector.Draft {
	return in.podSeen(o, o.Facts.(*events.PodSeen), true)
}

// samePod reports whether the observed pod equals the known one, apart from version and words. After the API server has
// confirmed the removal of the finalizer, the first observation without the finalizer is nothing new.
func samePod(home projector.Subject, p *projector.Pod, seen *events.PodSeen) bool {
	known := p.PodSeen
	known.Version = seen.Version
	known.Tracked = known.Tracked && !(p.DroppedIn != 0 && (!seen.Tracked || seen.Version > p.DroppedIn))
	known.Waiting, known.Sandbox = seen.Waiting, seen.Sandbox
	if slices.Equal(read(home, known.Conditions), read(home, seen.Conditions)) {
		known.Conditions = seen.Conditions
	}
	return known.Equal(seen)
}

// read returns the conditions that a podFailurePolicy rule of the pod's Job names; none for a pod that is not in the
// stream of a Job.
func read(home projector.Subject, all []events.PodCondition) []events.PodCondition {
	j, ok := home.(*projector.Job)
	if !ok || len(all) == 0 {
		return nil
	}
	var some []events.PodCondition
	for _, c := range all {
		if j.ReadsCondition(c.Type) {
			some = append(some, c)
		}
	}
	return some
}

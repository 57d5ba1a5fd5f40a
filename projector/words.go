package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
)

// Words are what a pod's object says that no decision reads: why it waits, and conditions that no rule of its Job
// names. They change often on the way of a pod that is well. So a sighting that has no other news is left out at first
// (Admit), and recorded when it still holds after a while (AdmitWords).

// Words reports whether a sighting has no news but words.
func (in *Intake) Words(o *events.Observation) bool {
	f, ok := o.Facts.(*events.PodSeen)
	if !ok {
		return false
	}
	f, stream, ours := in.route(o, f)
	home, p := in.World.whereIs(f.UID)
	return ours && p != nil && home.ID() == stream && p.Seen && !p.Gone && f.Version >= p.Version &&
		samePod(home, p, f) && otherWords(p, f)
}

// AdmitWords returns the draft of a sighting whose words are recorded, too; none when it says nothing new.
func (in *Intake) AdmitWords(o *events.Observation) []Draft {
	return in.podSeen(o, o.Facts.(*events.PodSeen), true)
}

// samePod reports whether a pod is seen as it is known, but for the version and the words. That its finalizer is gone
// is known once the server has confirmed it.
func samePod(home Subject, p *Pod, seen *events.PodSeen) bool {
	known := p.PodSeen
	known.Version = seen.Version
	known.Tracked = known.Tracked && !(p.DroppedIn != 0 && (!seen.Tracked || seen.Version > p.DroppedIn))
	known.Waiting, known.Sandbox = seen.Waiting, seen.Sandbox
	if slices.Equal(read(home, known.Conditions), read(home, seen.Conditions)) {
		known.Conditions = seen.Conditions
	}
	return known.Equal(seen)
}

// read is the conditions that a rule of the Job names; none of a pod that has no Job.
func read(home Subject, all []events.PodCondition) []events.PodCondition {
	j, ok := home.(*Job)
	if !ok || len(all) == 0 {
		return nil
	}
	var some []events.PodCondition
	for _, c := range all {
		if j.policies.Reads(c.Type) {
			some = append(some, c)
		}
	}
	return some
}

package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
)

// A command that the API server refused for a reason that may pass stands: it stays in flight, holds what it holds, and is
// asked again as it is, without another decision. The log has the first refusal, and after that what is news of it; in
// between the tries follow from the newest record, as [Retry.Next] says. So nothing of it is in memory alone, and a refusal
// that lasts for days costs no more than a record now and then.
//
//	            refused                          done, or another way to end
//	in flight ──────────▶ retrying (asked again) ──────────────────────────▶ ended
//	                         │ no longer wanted                    ▲
//	                         └─────────▶ cancelled (Withdraw) ─────┘ how its newest try ended is known
//
// Of creates one stands for all of a Job: while it is refused, so would the others be (J-057). Commands about pods stand
// each for itself, as do those about a Job's group: a pod that cannot be changed does not delay the others. Adoptions,
// releases and status writes never stand: each has to be decided from what is known by then (J-180, J-237). A create that
// has not been refused is cancelled likewise when no pod is to be made any more (J-164), and so are the removals of pods of
// which removal.go says so.

// Retrying is the command of that name and its backoff, when it is in backoff and is still wanted; else nil. Only such a
// command may be asked again.
func (j *Job) Retrying(name events.CommandID) (*Flight, *Retry) {
	found, ok := j.flights[name]
	switch {
	case !ok, j.Known() && !j.Settings.Mode.Manages(j.ManagedBy):
		return nil, nil
	case found.create != nil && found.create.Retrying && !found.create.Cancelled:
		return found.create.Flight, &j.Creating
	case found.pod != nil:
		if f := found.pod.flight(name); f.refused() && !f.Cancelled {
			return f, f.Refused
		}
	case j.Group.Retrying && j.Group.Flight.Name == name:
		return j.Group.Flight, &j.Group.Retry
	}
	return nil, nil
}

// GaveUp reports whether the command of that name, a create or a pod's removal, was cancelled, and its end is awaited.
func (j *Job) GaveUp(name events.CommandID) bool {
	found := j.flights[name]
	if found.pod != nil {
		f := found.pod.flight(name)
		return f != nil && f.Cancelled
	}
	return found.create != nil && found.create.Cancelled
}

// InFlight is the command of that name; nil when it has ended.
func (j *Job) InFlight(name events.CommandID) events.Command {
	found := j.flights[name]
	var f *Flight
	switch {
	case found.create != nil:
		f = found.create.Flight
	case found.pod != nil:
		f = found.pod.flight(name)
	case j.Write != nil && j.Write.Name == name:
		f = j.Write
	case j.Reading != nil && j.Reading.Name == name:
		f = j.Reading
	case j.Group.Flight != nil && j.Group.Flight.Name == name:
		f = j.Group.Flight
	}
	if f == nil {
		return nil
	}
	return f.Command
}

// PodOf is the pod that a command in flight is about; nil when it is about none, or has ended.
func (j *Job) PodOf(name events.CommandID) *Pod { return j.flights[name].pod }

// AllRetrying are the names of the commands that stand, in the order in which they were decided. It costs what there are
// commands in flight.
func (j *Job) AllRetrying() []events.CommandID {
	return slices.DeleteFunc(j.inFlight(), func(name events.CommandID) bool {
		f, _ := j.Retrying(name)
		return f == nil
	})
}

// RetryingCreate is the create in backoff, also a cancelled one; nil for none.
func (j *Job) RetryingCreate() *Create {
	for _, c := range j.creates {
		if c.Retrying {
			return c
		}
	}
	return nil
}

// flight is the pod's command of that name.
func (p *Pod) flight(name events.CommandID) *Flight {
	for _, f := range []*Flight{p.Drop, p.Delete, p.Claim} {
		if f != nil && f.Name == name {
			return f
		}
	}
	return nil
}

// stand puts a command about a pod into backoff, unless the observed pod already meets its goal.
func (j *Job) stand(p *Pod, f *events.CommandEnded) {
	flight := p.flight(f.Command)
	if flight == nil {
		return
	}
	if flight.Refused == nil {
		flight.Refused = &Retry{}
	}
	flight.Refused.again(j.Settings, j.Now, f)
	j.endMet(p)
}

// endMet ends a refused command whose goal the observed pod already meets: its finalizer is gone, or it is on its way out. Of
// a Job that is gone it also ends the deletion of a pod that has ended or has no owner: no decision would withdraw it any more.
func (j *Job) endMet(p *Pod) {
	if p.Drop.refused() && !p.Tracked {
		p.Surplus = p.Surplus && !p.Drop.Cancelled
		j.land(p.Drop.Name)
	}
	if p.Delete.refused() && (p.Leaving() || j.kept(p) || (j.Gone && p.Phase.Terminal())) {
		j.land(p.Delete.Name)
	}
}

// refused reports whether a command is in backoff; one that is not in flight does not.
func (f *Flight) refused() bool { return f != nil && f.Refused != nil }

// cancelDeletes cancels the deletions in backoff of a Job that another client finished: nothing of it is deleted (J-082).
func (j *Job) cancelDeletes() {
	for _, f := range j.flights {
		if f.pod != nil && f.pod.Delete.refused() {
			j.land(f.pod.Delete.Name)
		}
	}
}

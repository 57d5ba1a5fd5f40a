package projector

import "github.com/jobledger/jobledger/events"

// Awaited reports whether an observation cannot wait for a second: it is the first of its object, a pod's end, a deletion, or
// what a command or a read is waiting for. A Job or pod that is not known, or over, gives no record that could be one too many.
func (in *Intake) Awaited(o *events.Observation) bool {
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		j := in.World.Job(events.JobStream(o.Job.UID))
		return j == nil || !j.Known() || j.Gone || j.awaits(f)
	case *events.PodSeen:
		_, p := in.World.whereIs(f.UID)
		return p == nil || !p.Seen || p.Gone || p.awaits(f)
	}
	return true
}

// First reports whether an observation shows a Job that has no record yet.
func (in *Intake) First(o *events.Observation) bool {
	if _, ok := o.Facts.(*events.JobSeen); !ok {
		return false
	}
	stream := events.JobStream(o.Job.UID)
	j := in.World.Job(stream)
	return in.World.Retired(stream) == nil && (j == nil || !j.Known())
}

// awaits reports whether the Job's object shows its deletion, what a read is to show, or the status write in flight.
func (j *Job) awaits(f *events.JobSeen) bool {
	switch {
	case f.Deleted != 0 && j.Deleted == 0, j.Look, j.Recheck && f.Version > j.Version:
		return true
	case j.Write() == nil:
		return false
	}
	written := j.Base.With(&j.Write().Command.(*events.WriteStatus).Change)
	return written.Equal(f.Status)
}

// awaits reports whether the pod shows its end, its deletion, or what a command in flight asks for.
func (p *Pod) awaits(f *events.PodSeen) bool {
	switch {
	case f.Phase.Terminal() && !p.Phase.Terminal(), f.Deleted != 0 && p.Deleted == 0:
		return true
	case p.Drop() != nil && p.Tracked && !f.Tracked:
		return true
	}
	return p.Claim() != nil && p.Owner != f.Owner
}

package projector

import "github.com/jobledger/jobledger/events"

// Awaited reports whether an observation cannot wait: it shows what a command or a read is waiting for, a pod's end, a
// run's end or a deletion. Each of these comes once. A Job or pod that is over gives no record that could be one too
// many. An object that has no record yet is not awaited, except for a pod that the Job is about to know as its own
// (First).
func (in *Intake) Awaited(o *events.Observation) bool {
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		stream := events.JobStream(o.Job.UID)
		if r := in.World.Retired(stream); r != nil {
			return r.Look() || f.Deleted != 0 && !r.Deleted()
		}
		j := in.World.Job(stream)
		return j == nil || !j.Known() || j.Gone || j.awaits(f) || in.runEnds(o.Run)
	case *events.PodSeen:
		_, p := in.World.whereIs(f.UID)
		if p == nil {
			return in.created(o, f)
		}
		return !p.Seen || p.Gone || p.awaits(f)
	case *events.CronJobSeen:
		c := in.World.CronJob(events.CronJobStream(o.Job.UID))
		return c == nil || !c.Known() || c.Gone || c.Look || f.Deleted != 0 && c.Seen.Deleted == 0
	case *events.RunSeen:
		return in.runEnds(f)
	case *events.NodeSeen, *events.NamespaceSeen:
		return false
	}
	return true
}

// First reports whether an observation shows an object that has no record yet.
func (in *Intake) First(o *events.Observation) bool {
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		stream := events.JobStream(o.Job.UID)
		j := in.World.Job(stream)
		return in.World.Retired(stream) == nil && (j == nil || !j.Known())
	case *events.CronJobSeen:
		c := in.World.CronJob(events.CronJobStream(o.Job.UID))
		return c == nil || !c.Known()
	case *events.RunSeen:
		_, known := in.World.runs[f.Job]
		return !known
	case *events.PodSeen:
		_, p := in.World.whereIs(f.UID)
		return p == nil
	case *events.NodeSeen:
		return in.World.around.nodes[f.UID] == nil
	case *events.NodeGone:
		return in.World.around.nodes[f.UID] == nil
	case *events.NamespaceSeen:
		known := in.World.around.namespaces[f.Name]
		return known == nil || known.UID != f.UID
	}
	return false
}

// created reports whether a pod that has no record yet is what a create in flight asked for: its annotation says so,
// with a seal.
func (in *Intake) created(o *events.Observation, f *events.PodSeen) bool {
	j := in.World.Job(events.JobStream(o.Claim.Job))
	return j != nil && o.Claim.Ordinal != 0 && o.Claim.Ordinal == f.Ordinal && j.create(f.Ordinal) != nil
}

// runEnds reports whether a Job of a CronJob shows its end or its deletion, and did not before.
func (in *Intake) runEnds(f *events.RunSeen) bool {
	if f == nil {
		return false
	}
	c := in.World.CronJob(in.World.runs[f.Job])
	if c == nil || c.Runs[f.Job] == nil {
		return false
	}
	r := c.Runs[f.Job]
	return f.Result != events.ResultNone && !r.Finished() || f.Deleted != 0 && r.Deleted == 0
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

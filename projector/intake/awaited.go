package intake

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Awaited reports whether an observation must be recorded at once, even if its namespace has used up its log budget.
// Either a command or a live read in flight waits for it. Or it shows the end or the deletion of an object, which comes
// once per object, so such records stay few. An object without a record is not awaited. The exception is a pod that a
// create in flight made.
func (in *Intake) Awaited(o *events.Observation) bool {
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		stream := events.JobStream(o.Job.UID)
		if r := in.World.Retired(stream); r != nil {
			return r.Look() || f.Deleted != 0 && !r.Deleted()
		}
		j := in.World.Job(stream)
		return j == nil || !j.Known() || j.Gone || jobAwaits(j, f) || in.runEnds(o.Run)
	case *events.PodSeen:
		_, p := in.World.WhereIs(f.UID)
		if p == nil {
			return in.created(o, f)
		}
		return !p.Seen || p.Gone || podAwaits(p, f)
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
		_, known := in.World.RunOf(f.Job)
		return !known
	case *events.PodSeen:
		_, p := in.World.WhereIs(f.UID)
		return p == nil
	case *events.NodeSeen:
		return !in.World.Around.KnowsNode(f.UID)
	case *events.NodeGone:
		return !in.World.Around.KnowsNode(f.UID)
	case *events.NamespaceSeen:
		return !in.World.Around.KnowsNamespace(f)
	}
	return false
}

// created reports whether a create in flight made the observed pod, which has no record yet. o.Claim is the pod's
// sealed annotation (sealed: a tenant cannot forge it); it names the create by Job and ordinal (number within the Job).
func (in *Intake) created(o *events.Observation, f *events.PodSeen) bool {
	j := in.World.Job(events.JobStream(o.Claim.Job))
	return j != nil && o.Claim.Ordinal != 0 && o.Claim.Ordinal == f.Ordinal && j.Create(f.Ordinal) != nil
}

// runEnds reports whether an observation is the first to show that a CronJob's Job has ended or is being deleted.
func (in *Intake) runEnds(f *events.RunSeen) bool {
	if f == nil {
		return false
	}
	stream, _ := in.World.RunOf(f.Job)
	c := in.World.CronJob(stream)
	if c == nil || c.Runs[f.Job] == nil {
		return false
	}
	r := c.Runs[f.Job]
	return f.Result != events.ResultNone && !r.Finished() || f.Deleted != 0 && r.Deleted == 0
}

// jobAwaits reports whether the observed object shows something that Job j waits for: its deletion, the result of a
// live read, or the effect of the status write in flight.
func jobAwaits(j *projector.Job, f *events.JobSeen) bool {
	switch {
	case f.Deleted != 0 && j.Deleted == 0, j.Look, j.Recheck && f.Version > j.Version:
		return true
	case j.Write() == nil:
		return false
	}
	written := j.Base.With(&j.Write().Command.(*events.WriteStatus).Change)
	return written.Equal(f.Status)
}

// podAwaits reports whether the observed pod shows something that decisions wait for: the pod's end, its deletion, or
// the effect of a command in flight.
func podAwaits(p *projector.Pod, f *events.PodSeen) bool {
	switch {
	case f.Phase.Terminal() && !p.Phase.Terminal(), f.Deleted != 0 && p.Deleted == 0:
		return true
	case p.Drop() != nil && p.Tracked && !f.Tracked:
		return true
	}
	return p.Claim() != nil && p.Owner != f.Owner
}

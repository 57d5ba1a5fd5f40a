package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// refresh files a UID's pod afresh after the UID joined (by = 1) or left (by = -1) the uncounted lists.
func (j *Job) refresh(uid types.UID, by int) {
	if p := j.pods[uid]; p != nil {
		j.update(p, func() {})
		return
	}
	j.tally.Countable += by
}

// commandEnded folds how a command ended. A command that an observation has ended is no longer in flight, and its
// outcome is no news.
func (j *Job) commandEnded(rec *events.Record, f *events.CommandEnded) {
	if f.Written != 0 {
		j.ourWrite(f.Written)
	}
	found, ok := j.flights[f.Command]
	if !ok {
		return
	}
	switch {
	case found.create != nil:
		j.createEnded(found.create, rec, f)
	case found.pod != nil && found.pod.Claim != nil && found.pod.Claim.Name == f.Command:
		j.claimEnded(found.pod, f)
	case found.pod != nil:
		j.podEnded(found.pod, f)
	case j.Write != nil && j.Write.Name == f.Command:
		j.writeEnded(f)
	case j.Group.Flight != nil && j.Group.Flight.Name == f.Command:
		j.groupEnded(rec, f)
	default:
		j.readEnded(f)
	}
}

func (j *Job) createEnded(c *Create, rec *events.Record, f *events.CommandEnded) {
	_, looking := c.Flight.Command.(*events.ReadPod)
	since := c.Flight.Since
	switch f.Ending {
	case events.Done:
		if f.UID == "" { // looked for it, and there is none
			j.drop(c)
			return
		}
		late := j.settle(c.Ordinal)
		if p := j.pods[f.UID]; p != nil { // from which its mark was taken, else it had ended the create
			j.update(p, func() { p.LateCreate = late })
		} else {
			j.created(c, rec, f, late)
		}
	case events.Refused:
		j.createRefused(c, f, since, looking)
	case events.OutcomeUnknown:
		j.createFailed(c, f, since)
		j.doubt(c)
		if !looking {
			c.Sent = j.Now
		}
	case events.Withdrawn:
		if c.Doubted {
			j.unfly(c)
		} else {
			j.drop(c)
		}
	}
}

// createRefused folds a refusal. The first of a Job's creates that is refused stands for all; any other frees its slot. One
// that may have been made by a try of unknown end does not end so: its own pod may be what stands in the way.
func (j *Job) createRefused(c *Create, f *events.CommandEnded, since events.Time, looking bool) {
	j.createFailed(c, f, since)
	j.Window = j.Settings.FirstWindow()
	switch {
	case f.Class == events.RefusedNameTaken && !looking:
		j.drop(c)
	case c.Retrying && !c.Cancelled && passing(f.Class): // it goes on retrying
	case c.Doubted || looking:
		j.unfly(c)
		c.MustList = true
	case !c.Cancelled && passing(f.Class) && j.RetryingCreate() == nil:
		c.Retrying = true
	default:
		j.drop(c)
	}
}

// createFailed notes a failed try in the Job's backoff for creates.
func (j *Job) createFailed(c *Create, f *events.CommandEnded, since events.Time) {
	if c.Retrying {
		j.Creating.again(j.Settings, j.Now, f)
		return
	}
	j.Creating.refused(j.Settings, since, j.Now, f)
}

// unfly takes a create out of flight that holds its slot until it has ended.
func (j *Job) unfly(c *Create) {
	if c.Flight != nil {
		delete(j.flights, c.Flight.Name)
	}
	c.Flight, c.Retrying, c.Cancelled = nil, false, false
}

// doubt notes that it is unknown whether the create took effect.
func (j *Job) doubt(c *Create) {
	j.unfly(c)
	c.Doubted = true
}

// created files the pod of a create that is done before the watch has shown it.
func (j *Job) created(c *Create, rec *events.Record, f *events.CommandEnded, late events.Time) {
	p := j.addPod()
	p.Name, p.LateCreate = rec.Evidence.Name, late
	p.PodSeen = events.PodSeen{
		UID: f.UID, Version: f.Version, Phase: events.PodPending, Created: j.Now.Second(), Tracked: true,
		Owner: types.UID(j.Stream.ID), Selected: true, Index: c.Index, Ordinal: c.Ordinal,
		IndexFailures: c.IndexFailures, IndexIgnoredFailures: c.IndexIgnoredFailures,
	}
	j.place(p)
}

// podEnded folds how a command about a pod ended. Whatever the reason, it is retried when it was refused, and when that is unknown:
// it names the pod by its UID, so asking again is safe.
func (j *Job) podEnded(p *Pod, f *events.CommandEnded) {
	deletion := p.Delete != nil && p.Delete.Name == f.Command
	overtaken := p.overtaken(f)
	missing := f.Ending == events.Refused && (f.Class == events.RefusedNotFound || (deletion && f.Class == events.RefusedConflict))
	givenUp := p.flight(f.Command).Cancelled
	j.update(p, func() {
		if f.Ending == events.OutcomeUnknown {
			j.doubtDrop(p, f.Command)
		}
		switch {
		case givenUp && f.Ending != events.Done && !missing:
			j.removalEnded(p, f)
			return
		case f.Ending == events.OutcomeUnknown:
			j.stand(p, f)
			return
		case f.Ending == events.Refused && !missing && overtaken == 0:
			j.stand(p, f)
			return
		}
		j.land(f.Command)
		switch {
		case missing:
			p.Vanished = true
		case overtaken != 0:
			p.Stale = overtaken
		case f.Ending != events.Done:
		case deletion:
			p.DeleteDone = p.Deleted == 0
		case p.Tracked && p.Version <= f.Version:
			p.DroppedIn = f.Version
		}
		p.Surplus = p.Surplus && !givenUp
	})
}

func (j *Job) writeEnded(f *events.CommandEnded) {
	if f.Ending == events.Done && f.Version > j.Version {
		j.Version = f.Version
		j.confirm(f.Command)
		return
	}
	if f.Ending == events.OutcomeUnknown {
		j.doubtEnd(f.Over)
	}
	since := j.since(j.Write)
	j.land(f.Command)
	switch f.Ending {
	case events.Refused:
		j.Writing.refused(j.Settings, since, j.Now, f)
		if stale(f.Class) {
			j.Recheck, j.Look = true, true
		}
		switch {
		case f.Class != events.RefusedConflict:
		case f.Sent:
			j.Writing.Until = j.Now.Add(j.Settings.APIBackoff) // the newer version is on its way, or is read then
		case j.Writing.Count == 1:
			j.Writing.Until = j.Now // found out before anything was sent: the Job is read at once. Another one in a row waits
		}
	case events.OutcomeUnknown:
		j.Writing.refused(j.Settings, since, j.Now, f)
		j.Recheck, j.Look = true, true
	case events.Done: // observed before it was answered: the base has it
		j.Writing.cleared()
	case events.Withdrawn:
	}
}

// stale reports whether a refused status write may have been computed from an object that is no longer so: the Job is read
// before the next one (J-237). Others are refused for what is the same of any write: rights, patience, a webhook.
func stale(c events.RefusalClass) bool {
	return c == events.RefusedConflict || c == events.RefusedInvalid || c == events.RefusedNotFound
}

// doubtEnd notes that it is unknown whether the write in flight is stored, when it says how the Job ends, or accounts for a pod:
// that may lose its finalizer, if it has not, and would not be counted without the write. It was made for exactly one version,
// so a newer one settles it, as the next write does; else the time does after which the server no longer acts on it. When the
// server has answered (over), a live read that finds no newer version settles it, too. That read waits for its backoff, so what
// etcd may still have had in its hands then is stored or dropped.
func (j *Job) doubtEnd(over bool) {
	if j.Write == nil {
		return
	}
	if w := j.Write.Command.(*events.WriteStatus); len(w.Change.Conditions) > 0 || len(j.marked) > 0 {
		j.endDoubted(j.Now, j.Settings.RequestTimeout, over)
	}
}

// readEnded folds the end of a live read. What was found has been folded as an observation before.
func (j *Job) readEnded(f *events.CommandEnded) {
	since := j.since(j.Reading)
	j.land(f.Command)
	switch {
	case f.Ending == events.Done && string(f.UID) == j.Stream.ID:
		j.Look, j.Confirmed = false, j.Now
		j.endRead()
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		j.gone() // another Job has the name, or none
	case f.Ending == events.Refused || f.Ending == events.OutcomeUnknown:
		j.Writing.refused(j.Settings, since, j.Now, f)
	}
}

// since is when the command that ends was decided; now, when it is not known any more.
func (j *Job) since(f *Flight) events.Time {
	if f == nil {
		return j.Now
	}
	return f.Since
}

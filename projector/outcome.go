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
	j.tally.Settled += by
}

// commandEnded folds how a command ended. A command that an observation has settled is no longer in flight, and its
// outcome is no news.
func (j *Job) commandEnded(rec *events.Record, f *events.CommandEnded) {
	found, ok := j.flights[f.Command]
	if !ok {
		return
	}
	switch {
	case found.create != nil:
		j.createEnded(found.create, rec, f)
	case found.pod != nil:
		j.podEnded(found.pod, f)
	case j.Write != nil && j.Write.Name == f.Command:
		j.writeEnded(f)
	default:
		j.readEnded(f)
	}
}

func (j *Job) createEnded(c *Create, rec *events.Record, f *events.CommandEnded) {
	_, looking := c.Flight.Command.(*events.ReadPod)
	since := c.Flight.Since
	delete(j.flights, f.Command)
	c.Flight = nil
	switch f.Ending {
	case events.Done:
		if f.UID == "" { // looked for it, and there is none
			j.drop(c.Ordinal)
			return
		}
		j.settle(c.Ordinal)
		if j.pods[f.UID] == nil {
			j.created(c, rec, f)
		}
	case events.Refused:
		j.Creating.refused(j.Settings, since, j.Now, f.Class, f.RetryAfter)
		j.Window = 1
		if f.Class != events.RefusedNameTaken && (c.Doubted || looking) {
			c.MustList = true
			return
		}
		j.drop(c.Ordinal)
	case events.UnknownIf:
		j.Creating.refused(j.Settings, since, j.Now, 0, f.RetryAfter)
		c.Doubted = true
		if !looking {
			c.Sent = j.Now
		}
	case events.Withdrawn:
		if !c.Doubted {
			j.drop(c.Ordinal)
		}
	}
}

// created files the pod of a create that is done before the watch has shown it.
func (j *Job) created(c *Create, rec *events.Record, f *events.CommandEnded) {
	p := j.addPod()
	p.Name = rec.Evidence.Name
	p.PodSeen = events.PodSeen{
		UID: f.UID, Version: f.Version, Phase: events.PodPending, Created: j.Now.Second(), Tracked: true,
		Owner: types.UID(j.Stream.ID), Selected: true, Index: c.Index, Ordinal: c.Ordinal,
		IndexFailures: c.IndexFailures, IndexIgnoredFailures: c.IndexIgnoredFailures,
	}
	j.place(p)
}

func (j *Job) podEnded(p *Pod, f *events.CommandEnded) {
	deletion := p.Delete != nil && p.Delete.Name == f.Command
	since := j.since(p.Drop)
	if deletion {
		since = j.since(p.Delete)
	}
	missing := f.Ending == events.Refused && (f.Class == events.RefusedNotFound || (deletion && f.Class == events.RefusedConflict))
	j.update(p, func() {
		if f.Ending == events.UnknownIf {
			j.doubtDelete(p, f.Command)
		}
		j.land(f.Command)
		switch f.Ending {
		case events.Done:
			j.Podding.cleared()
			if deletion {
				p.DeleteDone = p.Deleted == 0
			} else {
				p.DropDone = p.Tracked
			}
		case events.Refused:
			if missing {
				p.Vanished = true
			} else {
				j.Podding.refused(j.Settings, since, j.Now, f.Class, f.RetryAfter)
			}
		case events.UnknownIf:
			j.Podding.refused(j.Settings, since, j.Now, 0, f.RetryAfter)
		case events.Withdrawn:
		}
	})
}

func (j *Job) writeEnded(f *events.CommandEnded) {
	if f.Ending == events.Done && f.Version > j.Version {
		j.Version = f.Version
		j.confirm(f.Command)
		return
	}
	if f.Ending == events.UnknownIf {
		j.doubtEnd()
	}
	since := j.since(j.Write)
	j.land(f.Command)
	switch f.Ending {
	case events.Refused:
		j.Writing.refused(j.Settings, since, j.Now, f.Class, f.RetryAfter)
		j.Recheck, j.Look = true, true
		if f.Class == events.RefusedConflict {
			j.Writing.Until = j.Now // found out before anything was sent: the Job is read at once
			if f.Sent {
				j.Writing.Until = j.Now.Add(j.Settings.APIBackoff) // the newer version is on its way, or is read then
			}
		}
	case events.UnknownIf:
		j.Writing.refused(j.Settings, since, j.Now, 0, f.RetryAfter)
		j.Recheck, j.Look = true, true
	case events.Done: // observed before it was answered: the base has it
		j.Writing.cleared()
	case events.Withdrawn:
	}
}

// doubtDelete notes that nobody knows whether the pod's deletion in flight takes effect, and until when it may: the Job does
// not finish before, so that nothing of a finished Job is deleted (J-082).
func (j *Job) doubtDelete(p *Pod, name events.CommandName) {
	if p.Delete != nil && p.Delete.Name == name {
		p.DeleteDoubt = j.Now.Add(j.Settings.RequestTimeout)
	}
}

// DeletesInDoubt is until when a deletion of unknown end may yet take effect; 0 when none may.
func (j *Job) DeletesInDoubt() events.Time {
	var until events.Time
	if j.tally.DoubtedDeletes > 0 {
		for _, p := range j.pods {
			if p.in.deleteDoubt {
				until = max(until, p.DeleteDoubt)
			}
		}
	}
	return until
}

// doubtEnd notes that nobody knows whether the write in flight is stored, when it says how the Job ends. It was made for
// exactly one version, so a newer one settles it; else the time does after which the server no longer acts on it.
func (j *Job) doubtEnd() {
	if j.Write == nil {
		return
	}
	if w := j.Write.Command.(*events.WriteStatus); len(w.Change.Conditions) > 0 {
		j.EndInDoubt = j.Now.Add(j.Settings.RequestTimeout)
	}
}

// readEnded folds the end of a live read. What was found has been folded as an observation before.
func (j *Job) readEnded(f *events.CommandEnded) {
	since := j.since(j.Reading)
	j.land(f.Command)
	switch {
	case f.Ending == events.Done && string(f.UID) == j.Stream.ID:
		j.Look = false
	case f.Ending == events.Done, f.Ending == events.Refused && f.Class == events.RefusedNotFound:
		j.gone() // another Job has the name, or none
	case f.Ending == events.Refused || f.Ending == events.UnknownIf:
		j.Writing.refused(j.Settings, since, j.Now, f.Class, f.RetryAfter)
	}
}

// since is when the command that ends was decided; now, when it is not known any more.
func (j *Job) since(f *Flight) events.Time {
	if f == nil {
		return j.Now
	}
	return f.Since
}

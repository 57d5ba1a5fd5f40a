package projector

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// decided folds a decision: its commands are in flight from here on.
func (j *Job) decided(rec *events.Record, d *events.Decision) {
	for place, c := range d.Commands() {
		f := &Flight{
			Name:    events.CommandID{Decided: rec.Sequence, Place: uint32(place)},
			Command: c,
			Since:   rec.Time,
		}
		launches[c.Traits().Kind](j, f)
	}
}

// creating is the create that a command asks for: a new one, or one in doubt that is tried again.
func (j *Job) creating(c *events.CreatePod, f *Flight) *Create {
	if known := j.create(c.Ordinal); known != nil {
		known.Flight, known.Sent, known.Again = f, j.Now, true
		return known
	}
	create := &Create{CreatePod: *c, Flight: f, Sent: j.Now}
	j.creates = append(j.creates, create) // ordinals only grow
	j.Ordinal = max(j.Ordinal, c.Ordinal)
	j.occupy(c.Index, 1)
	return create
}

// rekey gives the creates that have not ended the new name of their template, when the spec is stated again under another key:
// what is asked again is asked as it was. What was hidden may have changed meanwhile, which cannot be known; but a create that is
// asked again under its name meets what it made before, so no second pod comes of that. When the redacted text has changed the
// template has, too.
func (j *Job) rekey(had, spec *events.JobSpec) {
	if had == nil || had.Key == spec.Key || had.Redacted == "" || had.Redacted != spec.Redacted {
		return
	}
	for _, c := range j.creates {
		if c.Template != had.Template {
			continue
		}
		c.Template = spec.Template
		if c.Flight == nil {
			continue
		}
		if command, ok := c.Flight.Command.(*events.CreatePod); ok {
			renamed := *command
			renamed.Template = spec.Template
			c.Flight.Command = &renamed // the other one is a record's
		}
	}
}

func (j *Job) create(ordinal uint64) *Create {
	if k, ok := j.findCreate(ordinal); ok {
		return j.creates[k]
	}
	return nil
}

func (j *Job) findCreate(ordinal uint64) (int, bool) {
	return slices.BinarySearchFunc(j.creates, ordinal, func(c *Create, n uint64) int {
		return int(int64(c.Ordinal) - int64(n))
	})
}

// settle ends the create with that ordinal: its pod has been observed, or created for certain. Any outcome that comes
// later is no news, so both orders give the same state. late is until when another try of it may take effect.
func (j *Job) settle(ordinal uint64) (late events.Time) {
	if ordinal == 0 {
		return 0
	}
	j.Ordinal = max(j.Ordinal, ordinal)
	if c := j.create(ordinal); c != nil {
		late = c.late(j.Settings)
		j.drop(c)
		j.Window = min(j.Window+1, j.Settings.MaxPodsPerDecision)
		if j.RetryingCreate() == nil {
			j.Creating.cleared()
		} else { // what stood in its way may be gone: its waits begin again
			j.Creating.Count, j.Creating.Until = 1, j.Now.Add(j.Settings.APIBackoff)
		}
	}
	return late
}

// drop forgets a create that holds nothing any more.
func (j *Job) drop(c *Create) {
	k, _ := j.findCreate(c.Ordinal)
	j.creates = slices.Delete(j.creates, k, k+1)
	if c.Flight != nil {
		delete(j.flights, c.Flight.Name)
	}
	j.occupy(c.Index, -1)
}

// withdrawn folds the recorded decision to give a command up.
func (j *Job) withdrawn(name events.CommandID) {
	f, ok := j.flights[name]
	switch {
	case ok && f.create != nil:
		f.create.Cancelled = true // a try may be on its way: its end ends the create
	case ok && f.pod != nil && f.pod.flight(name).refused():
		j.update(f.pod, func() { f.pod.flight(name).Cancelled = true }) // likewise
	default:
		j.land(name)
	}
}

// inFlight are the commands in flight, in the order in which they were decided.
func (j *Job) inFlight() []events.CommandID {
	names := make([]events.CommandID, 0, len(j.flights))
	for name := range j.flights {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b events.CommandID) int {
		return cmp.Or(cmp.Compare(a.Decided, b.Decided), cmp.Compare(a.Place, b.Place))
	})
	return names
}

// land removes a command from those in flight.
func (j *Job) land(name events.CommandID) {
	f, ok := j.flights[name]
	if !ok {
		return
	}
	delete(j.flights, name)
	switch {
	case j.Write != nil && j.Write.Name == name:
		j.Write = nil
		j.unwritten()
	case j.Reading != nil && j.Reading.Name == name:
		j.Reading = nil
	case j.Group.Flight != nil && j.Group.Flight.Name == name:
		j.Group.Flight, j.Group.Retrying = nil, false
	case f.pod != nil && f.pod.Drop != nil && f.pod.Drop.Name == name:
		f.pod.Drop = nil
	case f.pod != nil && f.pod.Delete != nil && f.pod.Delete.Name == name:
		f.pod.Delete = nil
		j.deletes--
	case f.pod != nil && f.pod.Claim != nil && f.pod.Claim.Name == name:
		f.pod.Claim = nil
	}
}

// written marks the pods that a status write in flight accounts for. One that finishes the Job counts at once all that have
// ended.
func (j *Job) written(c *events.StatusChange) {
	if c.StartTime != 0 {
		j.asked = c.StartTime
	}
	if finishes(c) {
		for _, pods := range []iter.Seq[*Pod]{j.Unlisted(), j.HeldAll()} {
			j.marked = slices.AppendSeq(j.marked, pods)
		}
	}
	for _, uids := range [][]types.UID{c.AddSucceeded, c.AddFailed} {
		for _, uid := range uids {
			if p := j.pods[uid]; p != nil {
				j.marked = append(j.marked, p)
			}
		}
	}
	if c.CompleteIndexes != "" && !finishes(c) {
		indexes := ParseIndexes(c.CompleteIndexes, math.MaxInt32)
		for p := range j.Unlisted() {
			if p.Phase == events.PodSucceeded && indexes.Has(p.Index) {
				j.marked = append(j.marked, p)
			}
		}
	}
	for _, p := range j.marked {
		j.update(p, func() { p.written = true })
	}
}

// finishes reports whether a change makes the Job Complete or Failed.
func finishes(c *events.StatusChange) bool {
	return slices.ContainsFunc(c.Conditions, func(c events.JobCondition) bool {
		return c.Status == "True" && (c.Type == Complete || c.Type == Failed)
	})
}

// unwritten takes the marks off when the write has ended. Pods whose object went meanwhile are forgotten then.
func (j *Job) unwritten() {
	marked := j.marked
	j.marked = nil
	slices.SortFunc(marked, func(a, b *Pod) int { return cmp.Compare(a.entered, b.entered) }) // also after a restart
	for _, p := range marked {
		j.update(p, func() { p.written = false })
		if p.Gone {
			j.podGone(p.UID)
		}
	}
}

// confirm folds the success of a status write: its change is part of the published base from here on. It costs what the
// change names, not what the Job has.
func (j *Job) confirm(name events.CommandID) {
	if j.Write == nil || j.Write.Name != name {
		return
	}
	change := j.Write.Command.(*events.WriteStatus).Change
	j.Writing.cleared()
	j.endSettled()
	j.Lagging = 0
	j.rebase(func() { j.Base.change(&change) })
	defer j.land(name)
	if len(change.Conditions) > 0 || change.TrimTo != nil {
		j.recount()
		return
	}
	for _, uid := range change.Counted {
		delete(j.uncounted, uid)
		j.refresh(uid, -1)
	}
	for _, uid := range change.AddSucceeded {
		j.uncounted[uid] = false
		j.refresh(uid, 1)
	}
	for _, uid := range change.AddFailed {
		j.uncounted[uid] = true
		j.refresh(uid, 1)
	}
	completed, failed := ParseIndexes(change.CompleteIndexes, j.Completions()), ParseIndexes(change.FailIndexes, j.Completions())
	for i := range completed.all {
		j.complete(i) // the pod may be said to have another index by now
		j.reviewIndex(i)
	}
	for i := range failed.all {
		j.reviewIndex(i)
	}
	if change.CompleteIndexes != "" || change.FailIndexes != "" {
		for p := range j.Unlisted() {
			if p.Phase == events.PodSucceeded && j.accounted(p) {
				j.update(p, func() {})
			}
		}
		for _, name := range j.inFlight() { // a pod that is losing its finalizer may be of an index that another one has completed
			if p := j.flights[name].pod; p != nil {
				j.update(p, func() {})
			}
		}
	}
}

package projector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// Of a Job's creates one is retried for all: while it is refused, so would the others be (J-057). A create that has not
// been refused is cancelled like one that is retried when no pod is to be made any more (J-164).

// Create is a create that has not ended: it holds its slot and its index.
type Create struct {
	events.CreatePod
	Sent     events.Time // when it may last have been sent
	Doubted  bool        // a try ended unknown, so a refusal does not end it
	MustList bool        // it was refused after a try of unknown end: look for the pod first

	target commands.Target
}

// Flight is the command about the pod that is in flight: the create, or a look for its pod; nil while it is in doubt.
func (c *Create) Flight() *commands.Flight { return c.target.Flight(events.SlotCreate) }

// Retrying reports whether the create was refused, and is asked again as it is.
func (c *Create) Retrying() bool { return c.Flight().InBackoff() }

// Cancelled reports whether it is wanted no longer, and how its newest try ended is awaited.
func (c *Create) Cancelled() bool {
	f := c.Flight()
	return f != nil && f.Cancelled
}

// late is until when a try of the create may take effect besides the one that made its pod; 0 when there was one try.
func (c *Create) late(s *events.Settings) events.Time {
	if !c.Again {
		return 0
	}
	return c.Sent.Add(s.RequestTimeout)
}

// OnItsWay reports whether the create has been asked for, neither is in backoff nor is cancelled, and is not being
// looked for.
func (c *Create) OnItsWay() bool {
	f := c.Flight()
	if f == nil || f.InBackoff() || f.Cancelled {
		return false
	}
	_, asked := f.Command.(*events.CreatePod)
	return asked
}

// Creates are the creates that have not ended, by ordinal.
func (j *Job) Creates() []*Create { return j.creates }

// Creating is what was learnt from refused creates.
func (j *Job) Creating() *commands.Retry { return j.book.Shared(events.BackoffCreates) }

func (j *Job) launchCreate(f *commands.Flight) {
	j.book.Launch(f, &j.creating(f.Command.(*events.CreatePod)).target)
}

// creating is the create that a command asks for: a new one, or one in doubt that is tried again.
func (j *Job) creating(c *events.CreatePod) *Create {
	if known := j.create(c.Ordinal); known != nil {
		known.Sent, known.Again = j.Now, true
		return known
	}
	create := &Create{CreatePod: *c, Sent: j.Now}
	j.creates = append(j.creates, create) // ordinals only grow
	j.Ordinal = max(j.Ordinal, c.Ordinal)
	j.occupy(c.Index, 1)
	return create
}

func (j *Job) launchLook(f *commands.Flight) {
	if c := j.createOf(f); c != nil {
		j.book.Launch(f, &c.target)
	}
}

// rekey gives the creates that have not ended the new name of their template, when the spec is stated again under
// another key: what is asked again is asked as it was. What was hidden may have changed meanwhile, which cannot be
// known; but a create that is asked again under its name meets what it made before, so no second pod comes of that.
// When the redacted text has changed the template has, too.
func (j *Job) rekey(had, spec *events.JobSpec) {
	if had == nil || had.Key == spec.Key || had.Redacted == "" || had.Redacted != spec.Redacted {
		return
	}
	for _, c := range j.creates {
		if c.Template != had.Template {
			continue
		}
		c.Template = spec.Template
		f := c.Flight()
		if f == nil {
			continue
		}
		if command, ok := f.Command.(*events.CreatePod); ok {
			renamed := *command
			renamed.Template = spec.Template
			f.Command = &renamed // the other one is a record's
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

// RetryingCreate is the create in backoff, also a cancelled one; nil for none.
func (j *Job) RetryingCreate() *Create {
	if j.Creating().Count == 0 {
		return nil // none was refused since one was made: a big Job is spared the look at each
	}
	for _, c := range j.creates {
		if c.Retrying() {
			return c
		}
	}
	return nil
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
			j.Creating().Clear()
		} else { // what stood in its way may be gone: its waits begin again
			j.Creating().Count, j.Creating().Until = 1, j.Now.Add(j.Settings.APIBackoff)
		}
	}
	return late
}

// drop forgets a create that holds nothing any more.
func (j *Job) drop(c *Create) {
	k, _ := j.findCreate(c.Ordinal)
	j.creates = slices.Delete(j.creates, k, k+1)
	j.book.Land(c.Flight())
	j.occupy(c.Index, -1)
}

// createEnded folds how the newest try of a create, or a look for its pod, ended.
func (j *Job) createEnded(flight *commands.Flight, f *events.CommandEnded, name string) {
	c := j.createOf(flight)
	looking := flight.Command.Traits().Reads
	switch f.Ending {
	case events.Done:
		if f.UID == "" { // looked for it, and there is none
			j.drop(c)
			return
		}
		late := j.settle(c.Ordinal)
		if p := j.byUID[f.UID]; p != nil { // from which its mark was taken, else it had ended the create
			j.update(p, func() { p.LateCreate = late })
		} else {
			j.created(c, name, f, late)
		}
	case events.Refused:
		j.createRefused(c, flight, f, looking)
	case events.OutcomeUnknown:
		j.createFailed(flight, f)
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

// createRefused folds a refusal. The first of a Job's creates that is refused stands for all; any other frees its slot.
// One that may have been made by a try of unknown end does not end so: its own pod may be what stands in the way.
func (j *Job) createRefused(c *Create, flight *commands.Flight, f *events.CommandEnded, looking bool) {
	j.createFailed(flight, f)
	j.Window = j.Settings.FirstWindow()
	switch {
	case f.Class == events.RefusedNameTaken && !looking:
		j.drop(c)
	case flight.InBackoff() && !flight.Cancelled && f.Class.Passing(): // it goes on retrying
	case c.Doubted || looking:
		j.unfly(c)
		c.MustList = true
	case !flight.Cancelled && f.Class.Passing() && j.RetryingCreate() == nil:
		flight.Refused = j.Creating()
	default:
		j.drop(c)
	}
}

// createFailed notes a failed try in the Job's backoff for creates.
func (j *Job) createFailed(flight *commands.Flight, f *events.CommandEnded) {
	if flight.InBackoff() {
		j.book.Retry(j.Now, flight, f)
		return
	}
	j.Creating().Refused(j.Settings, flight.Since, j.Now, f)
}

// unfly takes a create out of flight that holds its slot until it has ended.
func (j *Job) unfly(c *Create) { j.book.Land(c.Flight()) }

// doubt notes that it is unknown whether the create took effect.
func (j *Job) doubt(c *Create) {
	j.unfly(c)
	c.Doubted = true
}

// cancelCreate folds the decision to give the create up. A try may be on its way: its end ends the create.
func (j *Job) cancelCreate(f *commands.Flight) { f.Cancelled = true }

// createRestarted folds a process's start: the create keeps its slot until it has ended. It may have been sent at any
// time since it was decided. One that is retried is asked again without another decision.
func (j *Job) createRestarted(f *commands.Flight) {
	c := j.createOf(f)
	if !f.InBackoff() || f.Cancelled {
		j.unfly(c)
	}
	c.Doubted, c.Sent = true, j.Now
	c.Again = c.Again || c.Flight() != nil
}

// createOf is the create that a command is about.
func (j *Job) createOf(f *commands.Flight) *Create {
	ordinal, _ := events.OrdinalOf(f.Command)
	return j.create(ordinal)
}

// created files the pod of a create that is done before the watch has shown it.
func (j *Job) created(c *Create, name string, f *events.CommandEnded, late events.Time) {
	p := j.addPod()
	p.Name, p.LateCreate = name, late
	p.PodSeen = events.PodSeen{
		UID: f.UID, Version: f.Version, Phase: events.PodPending, Created: j.Now.Second(), Tracked: true,
		Owner: types.UID(j.Stream.ID), Selected: true, Index: c.Index, Ordinal: c.Ordinal,
		IndexFailures: c.IndexFailures, IndexIgnoredFailures: c.IndexIgnoredFailures,
	}
	j.place(p)
}

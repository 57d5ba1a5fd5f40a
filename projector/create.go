package projector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// If creates are refused, the Job retries only one of them, because the API server would refuse the others, too
// (J-057). When no pod is wanted any more, all creates are cancelled (J-164).

// Create is a pod creation that has not ended. Until it ends, no other pod is created in its slot and index.
type Create struct {
	events.CreatePod
	Sent     events.Time // latest time at which it may have been sent
	Doubted  bool        // the outcome of a try is unknown, so a refusal does not end it
	MustList bool        // refused after a try of unknown outcome: look for its pod before the next try

	target commands.Target
}

// Flight returns the command in flight for the create: the CreatePod, or the ReadPod that looks for its pod. It returns
// nil if the outcome is unknown and nothing is in flight.
func (c *Create) Flight() *commands.Flight { return c.target.Flight(events.SlotCreate) }

// Retrying reports whether the create was refused and is retried unchanged.
func (c *Create) Retrying() bool { return c.Flight().InBackoff() }

// Cancelled reports whether the create is no longer wanted and the outcome of its newest try is awaited.
func (c *Create) Cancelled() bool {
	f := c.Flight()
	return f != nil && f.Cancelled
}

// late returns the time until which a second try may still create a duplicate; 0 if there was only one try.
func (c *Create) late(s *events.Settings) events.Time {
	if !c.Again {
		return 0
	}
	return c.Sent.Add(s.RequestTimeout)
}

// OnItsWay reports whether the CreatePod command is in flight, and neither in backoff nor cancelled.
func (c *Create) OnItsWay() bool {
	f := c.Flight()
	if f == nil || f.InBackoff() || f.Cancelled {
		return false
	}
	_, asked := f.Command.(*events.CreatePod)
	return asked
}

// Creates returns the creates that have not ended, by ordinal.
func (j *Job) Creates() []*Create { return j.creates }

// Creating returns the shared backoff of refused creates.
func (j *Job) Creating() *commands.Retry { return j.book.Shared(events.BackoffCreates) }

func (j *Job) launchCreate(f *commands.Flight) {
	j.book.Launch(f, &j.creating(f.Command.(*events.CreatePod)).target)
}

// creating returns the Create of a command: a new one, or one of unknown outcome that is sent again.
func (j *Job) creating(c *events.CreatePod) *Create {
	if known := j.Create(c.Ordinal); known != nil {
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

// rekey gives the creates that have not ended the new hash of their template, after the spec was recorded again under
// another hash key: a retry must ask for the same template as the first try. The hidden values of the template may have
// changed unnoticed. But a retry has the same pod name, and meets the pod that the first try made, so no second pod
// results. If the redacted text is different, the template has changed, and rekey does nothing.
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
			f.Command = &renamed // a copy: the original command belongs to a record
		}
	}
}

// Create returns the create with that ordinal that has not ended; nil for none.
func (j *Job) Create(ordinal uint64) *Create {
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

// RetryingCreate returns the create in backoff, even if it is cancelled; nil for none.
func (j *Job) RetryingCreate() *Create {
	if j.Creating().Count == 0 {
		return nil // no create was refused since the last success: do not search a large Job's creates
	}
	for _, c := range j.creates {
		if c.Retrying() {
			return c
		}
	}
	return nil
}

// settle ends the create with that ordinal, because its pod was observed or certainly created. A later outcome of the
// command changes nothing, so both orders give the same state. late is the time until which another try may still take
// effect; 0 for none.
func (j *Job) settle(ordinal uint64) (late events.Time) {
	if ordinal == 0 {
		return 0
	}
	j.Ordinal = max(j.Ordinal, ordinal)
	if c := j.Create(ordinal); c != nil {
		late = c.late(j.Settings)
		j.drop(c)
		j.Window = min(j.Window+1, j.Settings.MaxPodsPerDecision)
		if j.RetryingCreate() == nil {
			j.Creating().Clear()
		} else { // the reason for the refusal may be gone: start the backoff again
			j.Creating().Count, j.Creating().Until = 1, j.Now.Add(j.Settings.APIBackoff)
		}
	}
	return late
}

// drop removes a create that has ended.
func (j *Job) drop(c *Create) {
	k, _ := j.findCreate(c.Ordinal)
	j.creates = slices.Delete(j.creates, k, k+1)
	j.book.Land(c.Flight())
	j.occupy(c.Index, -1)
}

// createEnded folds the outcome of the newest try of a create, or of a look for its pod.
func (j *Job) createEnded(flight *commands.Flight, f *events.CommandEnded, name string) {
	c := j.createOf(flight)
	looking := flight.Command.Traits().Reads
	switch f.Ending {
	case events.Done:
		if f.UID == "" { // a look that found no pod
			j.drop(c)
			return
		}
		late := j.settle(c.Ordinal)
		if p := j.byUID[f.UID]; p != nil { // observed without our annotation, which would have ended the create
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

// createRefused folds a refusal. The first refused create of a Job stays in flight and is retried; any other ends, and
// its slot is free. A refusal does not end a create with a try of unknown outcome: the reason may be the pod that this
// try made.
func (j *Job) createRefused(c *Create, flight *commands.Flight, f *events.CommandEnded, looking bool) {
	j.createFailed(flight, f)
	j.Window = j.Settings.FirstWindow()
	switch {
	case f.Class == events.RefusedNameTaken && !looking:
		j.drop(c)
	case flight.InBackoff() && !flight.Cancelled && f.Class.Passing(): // keeps retrying
	case c.Doubted || looking:
		j.unfly(c)
		c.MustList = true
	case !flight.Cancelled && f.Class.Passing() && j.RetryingCreate() == nil:
		flight.Refused = j.Creating()
	default:
		j.drop(c)
	}
}

// createFailed records a failed try in the Job's backoff for creates.
func (j *Job) createFailed(flight *commands.Flight, f *events.CommandEnded) {
	if flight.InBackoff() {
		j.book.Retry(j.Now, flight, f)
		return
	}
	j.Creating().Refused(j.Settings, flight.Since, j.Now, f)
}

// unfly ends the command in flight of a create. The create keeps its slot.
func (j *Job) unfly(c *Create) { j.book.Land(c.Flight()) }

// doubt records that the create's outcome is unknown.
func (j *Job) doubt(c *Create) {
	j.unfly(c)
	c.Doubted = true
}

// cancelCreate folds the decision to cancel the create. The create ends with the outcome of the try in flight.
func (j *Job) cancelCreate(f *commands.Flight) { f.Cancelled = true }

// createRestarted folds a restart of the process. The create keeps its slot, and may have been sent until now. A create
// in backoff is retried without a new decision.
func (j *Job) createRestarted(f *commands.Flight) {
	c := j.createOf(f)
	if !f.InBackoff() || f.Cancelled {
		j.unfly(c)
	}
	c.Doubted, c.Sent = true, j.Now
	c.Again = c.Again || c.Flight() != nil
}

// createOf returns the create of a command.
func (j *Job) createOf(f *commands.Flight) *Create {
	ordinal, _ := events.OrdinalOf(f.Command)
	return j.Create(ordinal)
}

// created adds the pod of a finished create before the watch has shown the pod.
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

package projector

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// This file handles the creation of pods. If several creates are refused, the Job retries only one of them, because the
// API server would refuse the others, too (J-057). When no pod is wanted any more, all creates are cancelled (J-164).

// Create is a pod creation that has not ended. Until it ends, it uses up one of the Job's parallel pods, and its
// completion index gets no other pod.
type Create struct {
	events.CreatePod
	Sent     events.Time // latest time at which it may have been sent
	Doubted  bool        // the outcome of a try is unknown, so a later refusal does not end the create
	MustList bool        // refused after a try of unknown outcome: look for the pod of that try before the next try

	target commands.Target
}

// Flight returns the command in flight for the create: the CreatePod, or the ReadPod that looks for its pod. It returns
// nil if the outcome is unknown and nothing is in flight.
func (c *Create) Flight() *commands.Flight { return c.target.Flight(events.SlotCreate) }

// Retrying reports whether the create was refused and is retried unchanged.
func (c *Create) Retrying() bool { return c.Flight().InBackoff() }

// Cancelled reports whether the create is no longer wanted while the outcome of its newest try is awaited.
func (c *Create) Cancelled() bool {
	f := c.Flight()
	return f != nil && f.Cancelled
}

// late returns the time until which a second try may still create a second pod; 0 if the create was sent only once. s
// has the timeout of requests.
func (c *Create) late(s *events.Settings) events.Time {
	if !c.Again {
		return 0
	}
	return c.Sent.Add(s.RequestTimeout)
}

// OnItsWay reports whether the request to create the pod is being sent or answered: it is neither waiting in a backoff
// after a refusal nor cancelled.
func (c *Create) OnItsWay() bool {
	f := c.Flight()
	if f == nil || f.InBackoff() || f.Cancelled {
		return false
	}
	_, asked := f.Command.(*events.CreatePod)
	return asked
}

// Creates returns the creates that have not ended, by ordinal (the number of a create within its Job).
func (j *Job) Creates() []*Create { return j.creates }

// Creating returns the backoff after refused creates, which all creates of the Job share.
func (j *Job) Creating() *commands.Retry { return j.book.Shared(events.BackoffCreates) }

func (j *Job) launchCreate(f *commands.Flight) {
	j.book.Launch(f, &j.creating(f.Command.(*events.CreatePod)).target)
}

// creating returns the Create that a CreatePod command is about. It is a new one, or one of unknown outcome that is
// sent again.
func (j *Job) creating(c *events.CreatePod) *Create {
	if known := j.Create(c.Ordinal); known != nil {
		known.Sent, known.Again = j.Now, true
		return known
	}
	create := &Create{CreatePod: *c, Sent: j.Now}
	j.creates = append(j.creates, create) // the list stays in order, because ordinals only grow
	j.Ordinal = max(j.Ordinal, c.Ordinal)
	j.occupy(c.Index, 1)
	return create
}

func (j *Job) launchLook(f *commands.Flight) {
	if c := j.createOf(f); c != nil {
		j.book.Launch(f, &c.target)
	}
}

// rekey replaces the hash of the pod template in the creates that have not ended. It is called when the spec was
// recorded again, hashed with another secret key: a retry must ask for the same template as the first try. Values that
// the redacted template hides may have changed unnoticed. But a retry has the same pod name and finds that name taken,
// so no second pod results. If the redacted text is different, the template has changed, and rekey does nothing.
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

// Create returns the create with that ordinal (its number within the Job) if it has not ended; nil for none.
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

// RetryingCreate returns the create that waits in backoff after a refusal, even if it is cancelled; nil for none.
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

// settle ends the create with that ordinal (its number within the Job), because its pod was observed or certainly
// created. If the answer to the command is recorded later, it changes nothing, so both orders give the same state. late
// is the time until which another try may still create a second pod; 0 for none.
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
		} else { // a create succeeded, so the reason for the refusal may be gone: start the backoff again
			j.Creating().Count, j.Creating().Until = 1, j.Now.Add(j.Settings.APIBackoff)
		}
	}
	return late
}

// drop removes a create that has ended from the Job, and frees its index.
func (j *Job) drop(c *Create) {
	k, _ := j.findCreate(c.Ordinal)
	j.creates = slices.Delete(j.creates, k, k+1)
	j.book.Land(c.Flight())
	j.occupy(c.Index, -1)
}

// createEnded updates the create when its newest try, or a read that looks for its pod, has ended. name is the name of
// the pod.
func (j *Job) createEnded(flight *commands.Flight, f *events.CommandEnded, name string) {
	c := j.createOf(flight)
	looking := flight.Command.Traits().Reads
	switch f.Ending {
	case events.Done:
		if f.UID == "" { // a read that looked for the create's pod found none
			j.drop(c)
			return
		}
		late := j.settle(c.Ordinal)
		// If the pod is known, it was observed without our annotation: with it, the observation would have ended the
		// create
		if p := j.byUID[f.UID]; p != nil {
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

// createRefused updates a create that the API server refused. looking says that the refused request was a read that
// looks for the create's pod. The first refused create of a Job is retried; any other ends. A refusal does not end a
// create with an earlier try of unknown outcome: that try may have made the pod that is the reason for the refusal.
func (j *Job) createRefused(c *Create, flight *commands.Flight, f *events.CommandEnded, looking bool) {
	j.createFailed(flight, f)
	j.Window = j.Settings.FirstWindow()
	switch {
	case f.Class == events.RefusedNameTaken && !looking:
		j.drop(c)
	case flight.InBackoff() && !flight.Cancelled && f.Class.Passing(): // this create is the one being retried: go on
	case c.Doubted || looking:
		j.unfly(c)
		c.MustList = true
	case !flight.Cancelled && f.Class.Passing() && j.RetryingCreate() == nil:
		flight.Refused = j.Creating()
	default:
		j.drop(c)
	}
}

// createFailed extends the Job's shared backoff for creates after a try failed.
func (j *Job) createFailed(flight *commands.Flight, f *events.CommandEnded) {
	if flight.InBackoff() {
		j.book.Retry(j.Now, flight, f)
		return
	}
	j.Creating().Refused(j.Settings, flight.Since, j.Now, f)
}

// unfly ends the command in flight of a create, but keeps the create: it still uses up one of the Job's parallel pods.
func (j *Job) unfly(c *Create) { j.book.Land(c.Flight()) }

// doubt marks the create's outcome as unknown, and ends its command.
func (j *Job) doubt(c *Create) {
	j.unfly(c)
	c.Doubted = true
}

// cancelCreate marks the create as cancelled. The create ends with the outcome of the try in flight.
func (j *Job) cancelCreate(f *commands.Flight) { f.Cancelled = true }

// createRestarted updates a create when the process has restarted: its outcome is unknown, and it may have been sent
// until now. A create in backoff is retried without a new decision.
func (j *Job) createRestarted(f *commands.Flight) {
	c := j.createOf(f)
	if !f.InBackoff() || f.Cancelled {
		j.unfly(c)
	}
	c.Doubted, c.Sent = true, j.Now
	c.Again = c.Again || c.Flight() != nil
}

// createOf returns the create that a command in flight is about; nil if it has ended.
func (j *Job) createOf(f *commands.Flight) *Create {
	ordinal, _ := events.OrdinalOf(f.Command)
	return j.Create(ordinal)
}

// created adds the pod of a successful create, before the watch has shown the pod. name is the pod's name; late is the
// time until which a second try may still create a second pod.
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

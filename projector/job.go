package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Job is what the log says about one Job, and all that a decision reads. Before its object has been seen it is a
// placeholder for pods that name it as their owner (PhaseUnknown). When nothing is left to do it becomes a Retired.
type Job struct {
	Stream   events.Stream
	Ref      events.JobRef   // Namespace and Name are evidence
	Now      events.Time     // its own clock: the time of the last record that concerned it
	Head     events.Sequence // its newest record
	woken    bool            // its newest record is that a wait was over; no state, as the decision follows in the same turn
	Settings *events.Settings
	stating  links[Job] // its place in World.stating
	met      met        // the pod that the record is about which is being folded

	// The object.

	Version    uint64 // newest resourceVersion; 0 while the object has not been seen
	Generation int64
	Created    events.Time
	Deleted    events.Time // deletionTimestamp
	Gone       bool        // the object does not exist: it was deleted, or a live read did not find it
	Managed    bool
	ManagedBy  string
	Parent     events.Parent
	Spec       *events.JobSpec
	SpecAt     events.Sequence
	Origin     *events.Origin // evidence: where it comes from; nil for nothing to tell
	Terms                     // of the spec
	published

	// Pods and what is known of them, kept incrementally.

	pods
	unowned  map[types.UID]*Pod // pods without an owner, in the stream of a Job
	policies *policy.Policies
	indexes

	// Commands in flight and what was learnt from those that ended.

	book commands.Book[*Job]

	creates []*Create                 // by ordinal
	Ordinal uint64                    // of the newest create
	Window  uint32                    // creates that may be in flight at once: slow start (J-057)
	marked  []*Pod                    // the pods that the status write in flight accounts for
	claims  map[types.UID]*claimRetry // refused adoptions and releases
	// Confirmed is when a live read last found the Job to be as it is known (J-176).
	Confirmed events.Time
	Look      bool // a live read is wanted before the next status write
	Group     Group
	Recheck   bool // the next observation of the object is recorded whatever it says

	// Waits.

	waits

	rivalry rivalry

	Tries // evidence: how pods ended that did not succeed

	Retired bool                        // nothing is left to do: a Retired takes its place
	first   events.Sequence             // its first record
	homes   map[types.UID]events.Stream // the World's: where each pod is
}

// Woken reports whether the newest record of the Job is that a wait was over.
func (j *Job) Woken() bool { return j.woken }

// newJob is a Job of which nothing is known yet, in a world.
func newJob(stream events.Stream, w *World) *Job {
	j := &Job{
		Stream: stream, Settings: &w.Settings, Terms: termsOf(nil), published: newPublished(), Window: w.Settings.FirstWindow(),
		homes: w.homes, pods: newPods(), indexes: newIndexes(),
	}
	j.book = commands.New(j, &jobRows, &w.Settings)
	switch stream.Kind {
	case events.StreamJob, events.StreamCronJob:
		j.Ref.UID = types.UID(stream.ID)
	case events.StreamNamespace:
		j.Ref.Namespace = stream.ID
	case events.StreamController:
	}
	return j
}

// useSpec gives the Job a spec, and its policies as they were read.
func (j *Job) useSpec(spec *events.JobSpec, policies *policy.Policies) {
	j.Spec, j.Terms, j.policies = spec, termsOf(spec), policies
}

// FailedCount is how many pods have failed, by the published status and the pods not yet counted in it (J-032, J-033).
func (j *Job) FailedCount() int32 {
	return j.Base.Failed + int32(len(j.Base.UncountedFailed)) + j.tally.UnlistedFailed + j.tally.HeldFailed
}

// SucceededCount is how many completions there are (J-032).
func (j *Job) SucceededCount() int32 {
	if j.Indexed {
		return j.completed.Len()
	}
	return j.Base.Succeeded + int32(len(j.Base.UncountedSucceeded)) + j.tally.UnlistedSucceeded
}

// PodsInDoubt reports whether a create, a delete, the removal of a surplus pod, or of the finalizer of a pod that is
// not to be counted, has not ended, so that the Job must not finish yet: it would delete a pod afterwards (J-082), or
// the pod would not be counted that turns out to be (J-031).
func (j *Job) PodsInDoubt() bool {
	return len(j.creates) > 0 || j.book.Count(events.SlotDelete) > 0 || j.tally.Surplus > 0 || j.tally.NeverCounted > 0
}

// Quiet reports whether nothing is left to do for a Job that finished or is gone. A create in doubt is nothing to wait
// for: a pod that it may yet make opens a placeholder, and loses its finalizer.
func (j *Job) Quiet() bool {
	return (j.Gone || j.finished) && !j.Busy() && len(j.unowned) == 0 &&
		j.released.n == 0 && j.surplus.n == 0
}

package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/line"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Job is the state of one Job, and all that a decision about it reads. Before the Job's object has been seen, it is a
// placeholder for pods that name the Job as their owner (PhaseUnknown). When no work is left, a Retired replaces it.
type Job struct {
	Stream   events.Stream
	Ref      events.JobRef   // Namespace and Name are evidence
	Now      events.Time     // the Job's own clock: the time of the last record that concerned it
	Head     events.Sequence // its newest record
	woken    bool            // the newest record woke it; not stored, since the decision follows in the same turn
	Settings *events.Settings
	stating  line.Links[Job] // position in the list of holders by last checkpoint (statement.jobs)
	met      met             // the pod of the record being folded

	// The object.

	Version    uint64 // newest resourceVersion; 0 while the object has not been seen
	Generation int64
	Created    events.Time
	Deleted    events.Time // deletionTimestamp
	Gone       bool        // the object does not exist: deleted, or not found by a live read
	Managed    bool
	ManagedBy  string
	Parent     events.Parent
	Spec       *events.JobSpec
	SpecAt     events.Sequence
	Origin     *events.Origin // evidence: what created it; nil if unknown
	Terms                     // of the spec
	published

	// Pods, and data derived from them, which is updated with each record.

	pods
	unowned  map[types.UID]*Pod // pods without an owner in the stream of a Job
	policies *policy.Policies
	indexes

	// Commands in flight, and backoffs of those that ended.

	book commands.Book[*Job]

	creates []*Create                 // by ordinal
	Ordinal uint64                    // newest create
	Window  uint32                    // limit of creates in flight: slow start (J-057)
	marked  []*Pod                    // pods that the status write in flight accounts for
	claims  map[types.UID]*claimRetry // backoffs of adoptions and releases
	// Confirmed is when a live read last confirmed the known state of the Job (J-176).
	Confirmed events.Time
	Look      bool // a live read is needed before the next status write
	Group     Group
	Recheck   bool // record the next observation of the object even if it is not new

	// Backoffs and other waits.

	waits

	rivalry rivalry

	Tries // evidence: how pods ended that did not succeed

	Retired bool                        // no work is left: a Retired replaces it
	first   events.Sequence             // its first record
	homes   map[types.UID]events.Stream // the World's index from pod to stream
}

// Woken reports whether the Job's newest record woke it after a wait.
func (j *Job) Woken() bool { return j.woken }

// newJob returns a Job of which nothing but the stream is known.
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

// useSpec sets the Job's spec and its parsed policies.
func (j *Job) useSpec(spec *events.JobSpec, policies *policy.Policies) {
	j.Spec, j.Terms, j.policies = spec, termsOf(spec), policies
}

// FailedCount returns the number of failed pods: those in the published status and those not yet counted there (J-032,
// J-033).
func (j *Job) FailedCount() int32 {
	return j.Base.Failed + int32(len(j.Base.UncountedFailed)) + j.tally.UnlistedFailed + j.tally.HeldFailed
}

// SucceededCount returns the number of completions (J-032).
func (j *Job) SucceededCount() int32 {
	if j.Indexed {
		return j.completed.Len()
	}
	return j.Base.Succeeded + int32(len(j.Base.UncountedSucceeded)) + j.tally.UnlistedSucceeded
}

// PodsInDoubt reports whether a command about a pod has not ended: a create, a delete, the removal of a surplus pod, or
// the finalizer removal of a pod that never counts. The Job must not finish before: it would delete a pod after its
// finish (J-082), or miss a pod that counts after all (J-031).
func (j *Job) PodsInDoubt() bool {
	return len(j.creates) > 0 || j.book.Count(events.SlotDelete) > 0 || j.tally.Surplus > 0 || j.tally.NeverCounted > 0
}

// Quiet reports whether no work is left for a finished or deleted Job. It does not wait for a create of unknown
// outcome. If that create still makes a pod, the pod starts a placeholder for the Job, and loses its finalizer.
func (j *Job) Quiet() bool {
	return (j.Gone || j.finished) && !j.Busy() && len(j.unowned) == 0 &&
		j.released.n == 0 && j.surplus.n == 0
}

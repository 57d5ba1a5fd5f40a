package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/line"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Job is the state of one Job, computed from its records, and all that a decision about it reads. Before the Job's
// object has been seen, it is a placeholder for pods that name the Job as their owner (PhaseUnknown). When no work is
// left, a Retired replaces it.
type Job struct {
	Stream   events.Stream
	Ref      events.JobRef   // Namespace and Name are for people; no decision reads them
	Now      events.Time     // the Job's own clock: the time of the last record that concerned it
	Head     events.Sequence // its newest record (sequence number in the log)
	woken    bool            // newest record is a timer or a resume; not stored: the decision is in the same turn
	Settings *events.Settings
	stating  line.Links[Job] // position in the World's list of what to store in a new file (statement.jobs)
	met      met             // the pod that the record being applied is about

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
	Origin     *events.Origin // what created it, for people; nil if unknown
	Terms                     // parts of the spec
	published

	// Pods, and data derived from them, which is updated with each record.

	pods
	unowned  map[types.UID]*Pod // pods without an owner in the stream of a Job
	policies *policy.Policies
	indexes

	// Commands in flight (decided, and not ended), and backoffs after refusals.

	book commands.Book[*Job]

	creates []*Create                 // creates that have not ended, by ordinal
	Ordinal uint64                    // number of the newest create, from 1
	Window  uint32                    // limit for the number of creates in flight: slow start (J-057)
	marked  []*Pod                    // pods that the status write in flight accounts for
	claims  map[types.UID]*claimRetry // backoffs of adoptions and releases
	// Confirmed is when a live read last confirmed the known state of the Job (J-176); 0 if there must be another one.
	Confirmed events.Time
	Look      bool // the object must be read from the API server before the next status write
	Group     Group
	Recheck   bool // record the next observation of the object even if it is not new

	// Backoffs and other waits.

	waits

	rivalry rivalry

	Tries // for people: how pods ended that did not succeed

	Retired bool                        // no work is left: a Retired replaces it
	first   events.Sequence             // its first record
	homes   map[types.UID]events.Stream // the World's index from pod to stream
}

// Woken reports whether the Job's newest record ended a wait: a timer fired, or the Job was resumed.
func (j *Job) Woken() bool { return j.woken }

// newJob returns an empty Job that knows only its stream (the name of its part of the log).
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

// FailedCount returns the number of failed pods: those that the published status lists or has counted, and those that
// no status accounts for yet (J-032, J-033).
func (j *Job) FailedCount() int32 {
	return j.Base.Failed + int32(len(j.Base.UncountedFailed)) + j.tally.UnlistedFailed + j.tally.HeldFailed
}

// SucceededCount returns the number of completions: of an Indexed Job the succeeded indexes, else the succeeded pods
// (J-032).
func (j *Job) SucceededCount() int32 {
	if j.Indexed {
		return j.completed.Len()
	}
	return j.Base.Succeeded + int32(len(j.Base.UncountedSucceeded)) + j.tally.UnlistedSucceeded
}

// PodsInDoubt reports whether a command about a pod has not ended: a create, a delete, the removal of a surplus pod (to
// be deleted, never counted), or the finalizer removal of a pod that never counts. The Job must not finish before that
// command ends: it would delete a pod after its finish (J-082), or miss a pod that counts after all (J-031).
func (j *Job) PodsInDoubt() bool {
	return len(j.creates) > 0 || j.book.Count(events.SlotDelete) > 0 || j.tally.Surplus > 0 || j.tally.NeverCounted > 0
}

// Quiet reports whether no work is left for a finished or deleted Job. It does not wait for a create of unknown
// outcome. If that create still makes a pod, the pod starts a new placeholder for the Job, and loses its finalizer.
func (j *Job) Quiet() bool {
	return (j.Gone || j.finished) && !j.Busy() && len(j.unowned) == 0 &&
		j.released.n == 0 && j.surplus.n == 0
}

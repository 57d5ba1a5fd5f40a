package projector

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Job is what the log says about one Job, and all that a decision reads. Before its object has been seen it is a
// placeholder for pods that name it as their owner (PhaseUnknown). When nothing is left to do it becomes a Retired.
type Job struct {
	Stream   events.Stream
	Ref      events.JobRef   // Namespace and Name are evidence
	Now      events.Time     // its own clock: the time of the last record that concerned it
	Head     events.Sequence // its newest record
	Settings *events.Settings

	// The object.

	Version    uint64 // newest resourceVersion; 0 while the object has not been seen
	Generation int64
	Created    events.Time
	Deleted    events.Time // deletionTimestamp
	Gone       bool        // the object does not exist: it was deleted, or a live read did not find it
	Managed    bool
	ManagedBy  string
	Spec       *events.JobSpec
	SpecAt     events.Sequence
	published

	// Pods and what is known of them, kept incrementally.

	pods      map[types.UID]*Pod
	unlisted  queue
	released  queue
	surplus   queue
	holding   queue
	orphaned  queue
	disowned  queue
	unowned   map[types.UID]*Pod // pods without an owner, in the stream of a Job
	tally     Tally
	policies  *Policies
	progress  successProgress
	index     perIndex
	completed IndexSet // succeeded indexes in range: the base's, and those of unlisted pods
	taken     IndexSet // indexes that need no pod: completed, failed, or occupied
	occupants map[int32]occupants
	misplaced podSet             // active pods without a valid index that nothing is being done to
	fatal     podSet             // failed pods that a FailJob rule matches, also those that are not to be counted
	unremoved podSet             // pods whose removal is in backoff and can be cancelled
	crowded   map[int32]struct{} // indexes that more than one occupies

	// Commands in flight and what was learnt from those that ended.

	Book[*Job]

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

	Retired bool                        // nothing is left to do: a Retired takes its place
	first   events.Sequence             // its first record
	homes   map[types.UID]events.Stream // the World's: where each pod is
	arrival uint64
	ticks   uint64
}

// Tally is the Job's pods in numbers.
type Tally struct {
	Active, Ready, Terminating        int32
	Going, GoingReady                 int32 // of the active and the ready: being removed or deleted, and that is not in backoff
	Idle                              int32 // active pods that nothing is being done to
	UnlistedFailed, UnlistedSucceeded int32 // ended and not yet accounted for in the base
	Countable                         int   // uncounted UIDs whose pod no longer carries the finalizer
	Surplus                           int32 // surplus pods whose removal is not over
	Removing                          int32 // pods whose removal is asked for, and no answer has refused it
	Refused                           int32 // active surplus pods whose removal is in backoff
	Pointless                         int32 // pods whose removal is in backoff, and which have ended or are the Job's no longer
	Spared                            int32 // active surplus pods whose removal is cancelled, and how its newest try ended is awaited
	Unsure                            int32 // surplus pods that ended with the finalizer on, while its removal is in backoff
	HeldFailed                        int32 // failed pods that are held back for their index, and count
	NeverCounted                      int32 // pods that are not to be counted and still carry the finalizer
	Restarts                          int64 // of containers of pods that run or wait to run (J-113)
	Adopting, Releasing               int32 // pods whose adoption, or release, is in flight
	Urgent                            int   // unlisted pods that are being deleted: a client waits for their finalizer
}

func newJob(stream events.Stream, settings *events.Settings, homes map[types.UID]events.Stream) *Job {
	j := &Job{
		Stream: stream, Settings: settings, published: newPublished(), Window: settings.FirstWindow(), homes: homes,
		pods: map[types.UID]*Pod{}, occupants: map[int32]occupants{},
		misplaced: podSet{}, fatal: podSet{}, unremoved: podSet{},
		crowded: map[int32]struct{}{}, index: newPerIndex(),
	}
	j.Book = newBook(j, &jobRows, settings)
	switch stream.Kind {
	case events.StreamJob, events.StreamCronJob:
		j.Ref.UID = types.UID(stream.ID)
	case events.StreamNamespace:
		j.Ref.Namespace = stream.ID
	case events.StreamController:
	}
	return j
}

// Known reports whether the Job's object has been seen.
func (j *Job) Known() bool { return j.Version != 0 }

// Indexed reports whether the Job's pods have completion indexes.
func (j *Job) Indexed() bool { return j.Spec != nil && j.Spec.CompletionMode == "Indexed" }

// WorkQueue reports whether the Job has no fixed number of completions.
func (j *Job) WorkQueue() bool { return j.Spec != nil && j.Spec.Completions == nil }

// FailedOnly reports whether a pod is replaced, and counted, only once it has reached phase Failed (J-024).
func (j *Job) FailedOnly() bool {
	return j.Spec != nil && (j.Spec.PodFailurePolicy != "" || j.Spec.PodReplacementPolicy == "Failed")
}

// Completions is the number of indexes of an Indexed Job; 0 for a Job without completions.
func (j *Job) Completions() int32 {
	if j.Spec == nil || j.Spec.Completions == nil {
		return 0
	}
	return *j.Spec.Completions
}

// Parallelism is how many pods may run at once; 1 when the spec does not say.
func (j *Job) Parallelism() int32 {
	if j.Spec == nil || j.Spec.Parallelism == nil {
		return 1
	}
	return *j.Spec.Parallelism
}

// Shown are the active, ready and terminating pods as the status shows them. A pod that is removed or deleted counts as terminating as
// soon as that is decided, as the built-in's sync counts its own deletions (J-026, J-028). While in backoff it is the active
// pod that it is (J-150).
func (t *Tally) Shown() (active, ready, terminating int32) {
	return t.Active - t.Going, t.Ready - t.GoingReady, t.Terminating + t.Going
}

// Tally is the Job's pods in numbers.
func (j *Job) Tally() Tally { return j.tally }

// FailedCount is how many pods have failed, by the published status and the pods not yet counted in it (J-032, J-033).
func (j *Job) FailedCount() int32 {
	return j.Base.Failed + int32(len(j.Base.UncountedFailed)) + j.tally.UnlistedFailed + j.tally.HeldFailed
}

// SucceededCount is how many completions there are (J-032).
func (j *Job) SucceededCount() int32 {
	if j.Indexed() {
		return j.completed.Len()
	}
	return j.Base.Succeeded + int32(len(j.Base.UncountedSucceeded)) + j.tally.UnlistedSucceeded
}

// MayLower reports whether the API server lets the number of succeeded indexes go down: only of Jobs whose completions and
// parallelism are equal (J-212). Of others the number stays until it may (J-236).
func (j *Job) MayLower() bool { return j.Completions() == j.Parallelism() }

// Completed is the set of succeeded indexes in range. It must not be changed.
func (j *Job) Completed() *IndexSet { return &j.completed }

// FreeIndexes are the lowest indexes that need a pod, at most n.
func (j *Job) FreeIndexes(n int) []int32 { return j.taken.Gaps(nil, j.Completions(), n) }

// Awaits reports whether an index needs the pod that is being created for it: it is in range, has neither completed nor
// failed, and no other pod occupies it.
func (j *Job) Awaits(i int32) bool {
	_, crowded := j.crowded[i]
	return i >= 0 && i < j.Completions() && !crowded
}

// Crowded are the indexes that more than one pod occupies, ascending.
func (j *Job) Crowded() []int32 {
	out := make([]int32, 0, len(j.crowded))
	for i := range j.crowded {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// Claims reports whether the pod is the Job's: owned by it and matched by its selector (J-173).
func (j *Job) Claims(p *Pod) bool { return j.claimed(p) }

// Heard is how many pods the log has ever heard of.
func (j *Job) Heard() uint64 { return j.arrival }

// PodCount is the number of pods, of whatever state.
func (j *Job) PodCount() int { return len(j.pods) }

// Pod is the pod with that UID; nil when the log knows none.
func (j *Job) Pod(uid types.UID) *Pod { return j.pods[uid] }

// Pods are all pods in the order in which the log first heard of them. It costs what there are pods.
func (j *Job) Pods() []*Pod {
	out := make([]*Pod, 0, len(j.pods))
	for _, p := range j.pods {
		out = append(out, p)
	}
	slices.SortFunc(out, byArrival)
	return out
}

func byArrival(a, b *Pod) int { return int(a.arrived) - int(b.arrived) }

// Unlisted yields the pods that ended and are not accounted for, in the order in which they ended.
func (j *Job) Unlisted() iter.Seq[*Pod] { return j.unlisted.all }

// UnlistedLen is their number.
func (j *Job) UnlistedLen() int { return j.unlisted.n }

// FailJobMatch is the rule that fails the Job, and the pod it matched: of several the one that the log heard of first, so that
// the pick is the same everywhere (J-133). ok is false when there is none.
func (j *Job) FailJobMatch() (p *Pod, m Match, ok bool) { return j.failJobMatch((*Pod).FailsJob) }

// AnyFailJobMatch is the same with the pods that are not to be counted, at which the built-in controller looks too.
func (j *Job) AnyFailJobMatch() (p *Pod, m Match, ok bool) {
	return j.failJobMatch(func(*Pod) bool { return true })
}

func (j *Job) failJobMatch(counts func(*Pod) bool) (p *Pod, m Match, ok bool) {
	for q := range j.fatal {
		if counts(q) && (p == nil || q.arrived < p.arrived) {
			p = q
		}
	}
	if p == nil {
		return nil, Match{}, false
	}
	return p, p.match, true
}

// FailsJob reports whether the pod's failure fails the Job (J-131, J-133).
func (p *Pod) FailsJob() bool { return p.in.failJob }

// Ignored reports whether a rule says that the pod's failure does not count (J-114).
func (p *Pod) Ignored() bool { return p.match.Action == Ignore }

// Released yields the pods whose finalizer may go, in order.
func (j *Job) Released() iter.Seq[*Pod] { return j.released.all }

// ReleasedLen is their number.
func (j *Job) ReleasedLen() int { return j.released.n }

// Surplus yields the surplus pods whose finalizer, or then whose deletion, is to be asked for.
func (j *Job) Surplus() iter.Seq[*Pod] { return j.surplus.all }

// SurplusLen is their number.
func (j *Job) SurplusLen() int { return j.surplus.n }

// Countable reports whether the uncounted UID's pod no longer carries the finalizer, so that it can be counted (J-087).
func (j *Job) Countable(uid types.UID) bool {
	p := j.pods[uid]
	return p == nil || !p.Held()
}

// Creates are the creates that have not ended, by ordinal.
func (j *Job) Creates() []*Create { return j.creates }

// PodsInDoubt reports whether a create, a delete, the removal of a surplus pod, or of the finalizer of a pod that is not to
// be counted, has not ended, so that the Job must not finish yet: it would delete a pod afterwards (J-082), or the pod would
// not be counted that turns out to be (J-031).
func (j *Job) PodsInDoubt() bool {
	return len(j.creates) > 0 || j.counts[events.SlotDelete] > 0 || j.tally.Surplus > 0 || j.tally.NeverCounted > 0
}

// Removing reports whether the deletion of a pod has been asked for, and neither is certain yet nor is in backoff. A pod
// whose removal is in backoff is active as any other (J-074).
func (j *Job) Removing() bool { return j.tally.Removing > 0 }

// Unremoved are the pods whose removal is in backoff and that are surplus, have ended or are the Job's no longer, in the order
// in which the log first heard of them. It costs what they are.
func (j *Job) Unremoved() []*Pod {
	out := make([]*Pod, 0, len(j.unremoved))
	for p := range j.unremoved {
		out = append(out, p)
	}
	slices.SortFunc(out, byArrival)
	return out
}

// Quiet reports whether nothing is left to do for a Job that finished or is gone. A create in doubt is nothing to wait for:
// a pod that it may yet make opens a placeholder, and loses its finalizer.
func (j *Job) Quiet() bool {
	return (j.Gone || j.Finished()) && !j.Busy() && len(j.unowned) == 0 &&
		j.released.n == 0 && j.surplus.n == 0
}

package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Pod is what the log says about one pod.
type Pod struct {
	events.PodSeen
	Name, Node string // evidence, for people and for the executor

	Seen bool // observed; false while only the outcome of its create is known
	// DroppedIn is the version in which the server confirmed that its finalizer is gone, until the watch shows as much
	// (J-095); 0 for none.
	DroppedIn  uint64
	DeleteDone bool // the server confirmed its deletion, and the watch has not shown it yet
	// DropDoubt is until when a try of unknown end to remove its finalizer, as surplus, may yet take effect; 0 for none.
	DropDoubt events.Time
	// LateCreate is until when another try of its create may take effect, should its name be free by then; 0 for none.
	LateCreate           events.Time
	Vanished             bool // the server did not find it; what the watch still shows of it is older
	Gone                 bool // its object is gone; it is kept while a status write in flight accounts for it
	Surplus              bool // surplus: deleted once its finalizer is gone, and never counted (J-073)
	NeverCounted         bool // its finalizer went, or is going, though it had not ended: it is never counted (J-091)
	Counted              bool // the Job has accounted for it, or given it up: adopted again, it is not counted
	SelectorUnknown      bool // it was seen before its Job, so it is not known whether the selector matches
	FailedBeforeDeletion bool // it failed by itself: it was seen so before its deletion was asked for, or its containers' times say so
	// Stale is the version at which a command about the pod met a newer one, which is yet to be seen; 0 for none.
	Stale uint64
	// StoppingSince is when the pod was first seen to be deleted, if it had not ended then and could still end by itself;
	// 0 once it counts as failed for that.
	StoppingSince events.Time

	target  commands.Target
	arrived uint64       // order of arrival in its stream
	written bool         // the status write in flight accounts for it
	noted   bool         // its end has entered the backoff record
	ended   events.Time  // when it was found to have ended
	match   policy.Match // the rule of the podFailurePolicy that decides about it
	stage   Stage
	entered uint64 // order of arrival in its stage
	in      share
	beside  *Pod // another one of its index

	neighbours [2]neighbours // in the queue of its stage, and in its line of the division
	told       uint32        // the division in which a part of the state has it, in whatever shape
	line       uint32        // of the division
	touched    bool          // it is being changed
	forgotten  bool          // it is known no longer, and the next part says so
}

// share is what a pod adds to its Job's tallies.
type share struct {
	active, ready, terminating, going, idle, misplaced, countable, surplus, neverCounted bool

	removing, refused, pointless, spared, unsure, unsureSuccess bool

	freshFailed, freshSucceeded, completing, urgent, stopping bool

	fallen, running, fatal, failJob, heldCounted, adopting, releasing, held, dropping bool

	restarts uint32 // of containers of a pod that runs or waits to run

	index     int32 // the index that the pod occupies, or NoIndex
	completes int32 // the index that the pod completes, when it is completing one: succeeded and fresh
}

// Arrived orders the pods of a Job by when the log first heard of them.
func (p *Pod) Arrived() uint64 { return p.arrived }

// Stage is how far the pod's accounting has come.
func (p *Pod) Stage() Stage { return p.stage }

// Newest is the newest version known of the pod, also from the answer to a write that the watch has not shown yet. An
// answer that carries the very version in which the pod still had the finalizer says that the pod was removed with it,
// which is later.
func (p *Pod) Newest() uint64 {
	if p.DroppedIn != 0 && p.DroppedIn == p.Version {
		return p.Version + 1
	}
	return max(p.Version, p.DroppedIn)
}

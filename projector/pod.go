package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Pod is the state of one pod: its newest observation, and what else its records say.
type Pod struct {
	events.PodSeen
	Name, Node string // for people and the executor; no decision reads them

	Seen bool // observed; false while only the outcome of its create is known
	// DroppedIn is the pod's version in the API server's answer to our removal of the finalizer. It is 0 before that
	// answer, and again once the watch has shown the pod without the finalizer, or in a newer version (J-095).
	DroppedIn  uint64
	DeleteDone bool // the server confirmed the deletion, which the watch has not shown yet
	// DropDoubt is the time until which a finalizer removal of unknown outcome may still take effect on a surplus pod
	// (to be deleted, never counted); 0 for none.
	DropDoubt events.Time
	// LateCreate is the time until which another try of the pod's create may still make a second pod, if the name is
	// free by then; 0 for none.
	LateCreate           events.Time
	Vanished             bool // a request to the API server did not find it; older observations are ignored
	Gone                 bool // its object is deleted; the pod is kept while a status write in flight accounts for it
	Surplus              bool // to be deleted after its finalizer is removed, and never counted (J-073)
	NeverCounted         bool // its finalizer is removed before it ends, so it is never counted (J-091)
	Counted              bool // counted by the Job, or given up: not counted again if adopted again
	SelectorUnknown      bool // seen before its Job, so nobody knows yet whether the selector matches
	FailedBeforeDeletion bool // it failed by itself: seen so before its deletion, or by its containers' times
	// Stale is the pod's version at which the API server refused a command, because it has a newer version that the
	// watch has not shown yet; 0 for none.
	Stale uint64
	// StoppingSince is when the pod was first seen under deletion while it had not ended and could still end by itself;
	// 0 once it counts as failed.
	StoppingSince events.Time

	target  commands.Target
	arrived uint64       // order of arrival among the pods of its stream
	written bool         // the status write in flight accounts for it
	noted   bool         // its end is in the backoff record
	ended   events.Time  // when it ended, as the backoff record has it
	match   policy.Match // the podFailurePolicy rule that matches its failure
	stage   Stage
	entered uint64 // order of entry into its stage
	in      share
	beside  *Pod // next pod of the same index, in a linked list

	neighbours [2]neighbours // in the queues of its stage and of the division (storing of the state in parts)
	told       uint32        // number of the newest division in which a part lists the pod
	line       uint32        // which queue of the division has the pod; see lineNone
	touched    bool          // leave was called: its stored form will be out of date
	forgotten  bool          // its object is gone; the next part of the stored state says so
}

// share holds what a pod adds to its Job's counts and sets. The methods facts, match and enter compute it.
type share struct {
	active, ready, terminating, going, idle, misplaced, countable, surplus, neverCounted bool

	removing, refused, pointless, spared, unsure, unsureSuccess bool

	freshFailed, freshSucceeded, completing, urgent, stopping bool

	fallen, running, fatal, failJob, heldCounted, adopting, releasing, held, dropping bool

	restarts uint32 // container restarts of a pod that runs or waits to run

	index     int32 // index that the pod occupies, or NoIndex
	completes int32 // index that the pod completes, if it succeeded and no status accounts for it
}

// Arrived returns the pod's number in the order in which the Job's pods were first recorded.
func (p *Pod) Arrived() uint64 { return p.arrived }

// Stage returns how far the pod is on its way into the counters of the status.
func (p *Pod) Stage() Stage { return p.stage }

// Newest returns the newest known resourceVersion of the pod: Version, or DroppedIn if that is newer. DroppedIn is the
// version in the API server's answer to our finalizer removal, until the watch shows a pod without the finalizer.
//
// An update that the server stores gets a new version. So if DroppedIn equals Version, where the pod still had its
// finalizer, the server stored no update: the removal deleted the pod. The version of that deletion is not known, but
// it is greater than Version, so Newest returns Version + 1.
func (p *Pod) Newest() uint64 {
	if p.DroppedIn != 0 && p.DroppedIn == p.Version {
		return p.Version + 1
	}
	return max(p.Version, p.DroppedIn)
}

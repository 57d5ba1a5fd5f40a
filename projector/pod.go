package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Pod is the state of one pod.
type Pod struct {
	events.PodSeen
	Name, Node string // evidence, for people and the executor

	Seen bool // observed; false while only the outcome of its create is known
	// DroppedIn is the version in which the server confirmed that the finalizer is gone, until the watch shows it
	// (J-095); 0 for none.
	DroppedIn  uint64
	DeleteDone bool // the server confirmed the deletion, which the watch has not shown yet
	// DropDoubt is until when a surplus pod's finalizer removal of unknown outcome may still take effect; 0 for none.
	DropDoubt events.Time
	// LateCreate is until when another try of its create may still make a duplicate, if the name is free by then; 0 for
	// none.
	LateCreate           events.Time
	Vanished             bool // a live request did not find it; older observations do not count
	Gone                 bool // its object is gone; kept while a status write in flight accounts for it
	Surplus              bool // to be deleted after its finalizer, and never counted (J-073)
	NeverCounted         bool // loses its finalizer before it ends, so it is never counted (J-091)
	Counted              bool // the Job has counted it or given it up: not counted again if adopted again
	SelectorUnknown      bool // seen before its Job, so whether the selector matches is unknown
	FailedBeforeDeletion bool // it failed by itself: seen so before its deletion, or by its containers' times
	// Stale is the version with which a command about the pod was refused, because a newer one exists that was not seen
	// yet; 0 for none.
	Stale uint64
	// StoppingSince is when the pod was first seen under deletion while it had not ended and could still end by itself;
	// 0 once it counts as failed.
	StoppingSince events.Time

	target  commands.Target
	arrived uint64       // order of arrival in its stream
	written bool         // part of the status write in flight
	noted   bool         // its end is in the backoff record
	ended   events.Time  // when it ended, as the backoff record has it
	match   policy.Match // the podFailurePolicy rule that matches its failure
	stage   Stage
	entered uint64 // order of arrival in its stage
	in      share
	beside  *Pod // next pod of the same index

	neighbours [2]neighbours // in the queue of its stage, and in a queue of the division (parts of the stored state)
	told       uint32        // newest division in which a part lists the pod, in any form
	line       uint32        // which queue of the division has the pod; see lineNone
	touched    bool          // it is being changed: its stored form is out of date
	forgotten  bool          // it was forgotten; the next part of the stored state says so
}

// share holds what a pod adds to its Job's tallies and sets. It is computed by facts, match and enter.
type share struct {
	active, ready, terminating, going, idle, misplaced, countable, surplus, neverCounted bool

	removing, refused, pointless, spared, unsure, unsureSuccess bool

	freshFailed, freshSucceeded, completing, urgent, stopping bool

	fallen, running, fatal, failJob, heldCounted, adopting, releasing, held, dropping bool

	restarts uint32 // of the containers of a pod that runs or waits to run

	index     int32 // index that the pod occupies, or NoIndex
	completes int32 // index that the pod completes, if it succeeded and no status accounts for it
}

// Arrived returns the pod's order of arrival among the Job's pods.
func (p *Pod) Arrived() uint64 { return p.arrived }

// Stage returns how far the pod is on its way into the counters of the status.
func (p *Pod) Stage() Stage { return p.stage }

// Newest returns the newest known version of the pod, including one from an answer that the watch has not shown yet. If
// the answer to the finalizer removal has the pod's old version, that removal also deleted the pod. The deletion is
// newer, so Newest adds 1.
func (p *Pod) Newest() uint64 {
	if p.DroppedIn != 0 && p.DroppedIn == p.Version {
		return p.Version + 1
	}
	return max(p.Version, p.DroppedIn)
}

package events

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PodPhase is the phase of a pod. PodPending also stands for a pod without a phase.
type PodPhase uint8

// The phases of a pod.
const (
	PodPhaseNone PodPhase = 0
	PodPending   PodPhase = 1
	PodRunning   PodPhase = 2
	PodSucceeded PodPhase = 3
	PodFailed    PodPhase = 4
	PodUnknown   PodPhase = 5
)

// String returns the phase as the API spells it.
func (p PodPhase) String() string {
	switch p {
	case PodPending:
		return "Pending"
	case PodRunning:
		return "Running"
	case PodSucceeded:
		return "Succeeded"
	case PodFailed:
		return "Failed"
	case PodUnknown:
		return "Unknown"
	case PodPhaseNone:
	}
	return ""
}

// Terminal reports whether a pod in this phase has ended.
func (p PodPhase) Terminal() bool { return p == PodSucceeded || p == PodFailed }

// NoIndex marks a pod that has no completion index, or one that does not parse.
const NoIndex = -1

// PodSeen has the fields of a Pod object that decisions read.
type PodSeen struct {
	UID        types.UID
	Version    uint64 // resourceVersion
	Phase      PodPhase
	Created    Time
	Deleted    Time        // deletionTimestamp, which may be in the future; 0 when the pod is not being deleted
	Tracked    bool        // the pod has its tracking finalizer
	Owner      types.UID   // UID of its controller, if that is a batch/v1 Job
	Foreign    bool        // its controller is no batch/v1 Job
	Selected   bool        // the owner's selector matches its labels
	Candidates []types.UID // Jobs whose selectors match, for a pod without an owner
	Maker      types.UID   // for a pod without an owner: the Job that created or adopted it, by its annotation
	Index      int32       // completion index, or NoIndex
	Ordinal    uint64      // number of the create that made it; 0 when another log, epoch or client did
	Scheduled  bool
	Ready      bool
	EndedFirst bool // all containers had ended before the deletion was requested, by their times
	// Unmarked: the pod's controller is a Job, but no annotation of ours says who created or adopted it. Only with
	// ModeAll.
	Unmarked   bool
	ReadySince Time
	Finished   Time // J-110; 0 while the pod has not ended
	// DeletionGracePeriodSeconds is the time between the request of the deletion and Deleted. Nil when the pod is not
	// being deleted. No decision reads it.
	DeletionGracePeriodSeconds *int64
	// Waiting is the reason why the pod does not run, in one word of the scheduler or the kubelet: Unschedulable,
	// ImagePullBackOff, ContainerCreating. It is empty without a reason. No decision reads it.
	Waiting string
	// Sandbox says what the kubelet waits for when, by Waiting, the containers are not created yet. No decision reads
	// it.
	Sandbox Sandbox

	Restarts           uint32 // sum over init and regular containers
	MaxRestarts        uint32 // highest of a regular container
	MaxSidecarRestarts uint32

	Exits      []ContainerExit // containers with an exit code other than 0, for exit code rules
	Conditions []PodCondition

	IndexFailures, IndexIgnoredFailures uint32 // from its annotations
}

// Equal reports whether f and o are equal, versions included. It runs for each observed pod, and package reflect took a
// microsecond and two allocations for it. A test fails when a field is missing here.
func (f *PodSeen) Equal(o *PodSeen) bool {
	return f.Version == o.Version && f.UID == o.UID && f.Phase == o.Phase && f.Created == o.Created && f.Deleted == o.Deleted &&
		f.Tracked == o.Tracked && f.Owner == o.Owner && f.Foreign == o.Foreign && f.Selected == o.Selected && f.Maker == o.Maker &&
		f.Index == o.Index && f.Ordinal == o.Ordinal && f.Scheduled == o.Scheduled && f.Ready == o.Ready &&
		f.ReadySince == o.ReadySince && f.Finished == o.Finished && f.EndedFirst == o.EndedFirst &&
		f.Unmarked == o.Unmarked && f.Waiting == o.Waiting && f.Sandbox == o.Sandbox && f.Restarts == o.Restarts &&
		f.MaxRestarts == o.MaxRestarts && f.MaxSidecarRestarts == o.MaxSidecarRestarts &&
		f.IndexFailures == o.IndexFailures && f.IndexIgnoredFailures == o.IndexIgnoredFailures &&
		equal(f.DeletionGracePeriodSeconds, o.DeletionGracePeriodSeconds) &&
		slices.Equal(f.Candidates, o.Candidates) && slices.Equal(f.Exits, o.Exits) && slices.Equal(f.Conditions, o.Conditions)
}

// Asked returns when the deletion of a pod was requested, by the API server's clock. If exact is false, t is only an
// upper bound: without a grace period the deletionTimestamp may lie in the future by an unknown time, and a second
// delete without grace moves it.
func (f *PodSeen) Asked() (t Time, exact bool) {
	if f.Deleted == 0 || f.DeletionGracePeriodSeconds == nil {
		return f.Deleted, false
	}
	grace := min(*f.DeletionGracePeriodSeconds, 1<<32) // a client may ask for any number
	return f.Deleted.Add(-time.Duration(grace) * time.Second), grace > 0
}

// ContainerExit is a container that ended with an exit code other than 0.
type ContainerExit struct {
	Name string
	Init bool
	Code int32
}

// PodCondition is a condition of a pod, without times and texts.
type PodCondition struct{ Type, Status string }

// PodGone records that a pod was deleted, was absent from a complete list (Missed), or from here on has its records in
// another stream or in none (Moved).
type PodGone struct {
	UID     types.UID
	Version uint64
	Missed  bool
	Moved   bool
}

func (*PodSeen) facts() factType { return factPodSeen }
func (*PodGone) facts() factType { return factPodGone }

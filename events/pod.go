package events

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PodPhase is the phase of a pod; PodPending also stands for a pod that has none yet.
type PodPhase uint8

// The phases.
const (
	PodPhaseNone PodPhase = 0
	PodPending   PodPhase = 1
	PodRunning   PodPhase = 2
	PodSucceeded PodPhase = 3
	PodFailed    PodPhase = 4
	PodUnknown   PodPhase = 5
)

// String is the phase as the API spells it.
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

// NoIndex marks a pod without a completion index that parses.
const NoIndex = -1

// PodSeen has the fields of a Pod object that decisions read.
type PodSeen struct {
	UID        types.UID
	Version    uint64 // resourceVersion
	Phase      PodPhase
	Created    Time
	Deleted    Time        // deletionTimestamp, which may lie in the future; 0 when it is not being deleted
	Tracked    bool        // carries the finalizer that keeps it until it is counted
	Owner      types.UID   // of its controller, when that is a batch/v1 Job
	Foreign    bool        // its controller is something else
	Selected   bool        // the owner's selector matches its labels
	Candidates []types.UID // Jobs whose selectors match it, when it has no owner
	Maker      types.UID   // of a pod without owner: the Job that it was made for or adopted by, as its annotation says
	Index      int32       // completion index, or NoIndex
	Ordinal    uint64      // of the create that made it; 0 when this life of this log did not
	Scheduled  bool
	Ready      bool
	EndedFirst bool // its containers had all ended before its deletion was asked for, by their times
	// Unmarked: a Job is its controller, and no annotation of a create or an adoption says who made it so. ModeAll only.
	Unmarked   bool
	ReadySince Time
	Finished   Time // J-110; 0 while it has not ended
	// DeletionGracePeriodSeconds is how long it was given to stop: Deleted lies that much after the deletion was asked
	// for. Nil when it is not being deleted. No decision reads it.
	DeletionGracePeriodSeconds *int64
	// Waiting is why the pod does not run, in a word of the scheduler's or the kubelet's: Unschedulable, ImagePullBackOff,
	// ContainerCreating. It is empty when nothing says so. No decision reads it.
	Waiting string
	// Sandbox is beside a word that its containers are not made so far. No decision reads it.
	Sandbox Sandbox

	Restarts           uint32 // over init and regular containers
	MaxRestarts        uint32 // of a regular container
	MaxSidecarRestarts uint32

	Exits      []ContainerExit // containers that ended other than with 0, for exit code rules
	Conditions []PodCondition

	IndexFailures, IndexIgnoredFailures uint32 // from its annotations
}

// Equal reports whether f and o say the same of a pod, versions included. Each pod that is seen is compared so, and
// package reflect took a microsecond and two allocations for it; a test knows whether a field is missing.
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

// Asked is when the deletion of a pod that is being deleted was asked for, by the API server's clock: no later than
// that, and exactly then if so says exact. Without a grace period nothing tells by how much the deletionTimestamp lies
// in the future, and a delete without grace that follows another one moves it.
func (f *PodSeen) Asked() (t Time, exact bool) {
	if f.Deleted == 0 || f.DeletionGracePeriodSeconds == nil {
		return f.Deleted, false
	}
	grace := min(*f.DeletionGracePeriodSeconds, 1<<32) // a client may ask for any
	return f.Deleted.Add(-time.Duration(grace) * time.Second), grace > 0
}

// ContainerExit is a container that ended with an exit code other than 0.
type ContainerExit struct {
	Name string
	Init bool
	Code int32
}

// PodCondition is a condition of a pod, without its times and texts.
type PodCondition struct{ Type, Status string }

// PodGone says that the Pod object was deleted, or (Missed) was absent from a complete list, or (Moved) belongs to
// another stream from here on, or to none.
type PodGone struct {
	UID     types.UID
	Version uint64
	Missed  bool
	Moved   bool
}

func (*PodSeen) facts() factType { return factPodSeen }
func (*PodGone) facts() factType { return factPodGone }

package events

import "k8s.io/apimachinery/pkg/types"

// Evidence holds what people want to know about a record in addition to its facts: names, messages, free text. No
// decision reads it. The writer of each text bounds its size.
type Evidence struct {
	Namespace, Name string // of the object that the record is about
	Node            string // node that a pod was assigned to
	Reason, Message string // text that others wrote: the pod's status, the API server's error
	Sentence        string // our own words, for people
	Containers      []ContainerEnd
	Template        []byte // a pod template without secret values, as JSON
	State           []byte // the names and texts that belong to a StoredState
	Owner           string // name of the Job that owns a pod, when no earlier record of the stream has it
	// PassedOver counts the versions of the object that were seen and not recorded since its last record. Either its
	// namespace had used up its log budget (Settings.NamespaceBudget), or nothing but PodSeen.Waiting had changed, too
	// often.
	PassedOver uint64

	Running    Time            // since when all regular containers of a pod run, by the node's clock; else 0
	Conditions []ConditionText // conditions of a pod that have a reason
	Waits      []ContainerWait // containers of a pod that wait with a reason
	Finalizers []string        // finalizers of an object that is being deleted, which keep it
	Gates      []string        // names of a pod's scheduling gates: the pod is not scheduled until all are removed
	// StillRun lists the containers for which a pod waits. In the first case, a regular container has ended for good,
	// and the pod cannot end before the listed ones. In the second case, the listed ones are init containers, and the
	// regular containers cannot start before these have ended or started (PodInitializing).
	StillRun []string
	Origin   *Origin // the origin of a Job, in the first record of its object; nil if nothing is known
	// Admitted lists what admission changed in the spec of a new pod, compared with the Job's pod template. A leading +
	// marks an added name, - a removed one. An image has both values: "containers[main].image a → b". One empty name
	// means no change. An empty list means the same changes as the pod of this Job recorded before.
	Admitted []string
	Edit     *Edit // the client that created the Job or changed its spec, as far as the object tells; nil for unknown
}

// Origin describes where a Job comes from.
type Origin struct {
	Kind, Name   string // of its controller, such as a CronJob; empty for none
	UID          types.UID
	GenerateName string        // metadata.generateName, when the API server completed the name
	Labels       []ObjectLabel // the labels that the operator chose to keep, by name
	Traceparent  string        // W3C trace context, from the annotation of that name
}

// ObjectLabel is a label of an object.
type ObjectLabel struct{ Name, Value string }

// Edit identifies the client that changed an object: the newest entry of metadata.managedFields that covers the change.
type Edit struct {
	Manager   string // field manager, such as kubectl-edit
	Operation string // Update or Apply
	Time      Time   // by the API server's clock, in whole seconds
}

// ContainerKind is the kind of a container of a pod.
type ContainerKind uint8

// The kinds of containers.
const (
	RegularContainer ContainerKind = 0
	InitContainer    ContainerKind = 1
	SidecarContainer ContainerKind = 2 // an init container that runs beside the regular ones
)

// String returns the kind in one word.
func (k ContainerKind) String() string {
	switch k {
	case RegularContainer:
		return "regular"
	case InitContainer:
		return "init"
	case SidecarContainer:
		return "sidecar"
	}
	return "unknown"
}

// ContainerEnd describes how a container ended the last time.
type ContainerEnd struct {
	Name              string
	ExitCode          int32
	Reason, Message   string
	Kind              ContainerKind
	Started, Finished Time   // by the node's clock, in whole seconds; 0 when the kubelet reports none
	Restarts          uint32 // number of restarts
	Again             bool   // the container has been started again: it runs or waits
	MessageWithheld   bool   // the message, or all but its first line, was not kept (run --keep-messages)
}

// Lost reports whether the end of the container was not observed: the kubelet or the runtime found no trace of it. The
// exit code, the message and one restart are then made up. A kubelet also reports this for a pod that is deleted before
// its containers start.
func (c *ContainerEnd) Lost() bool {
	switch c.Reason {
	case "ContainerStatusUnknown": // the kubelet's reason, with exit code 137, if it found no trace of the container
		return true
	case "Unknown": // containerd's reason, with exit code 255, if it found no trace of the container
		return c.ExitCode == 255
	}
	return false
}

// Ran reports whether the container ran. If it did, its message may be the program's own. If it could not be started,
// the message is the runtime's.
func (c *ContainerEnd) Ran() bool {
	return !c.Lost() && c.Reason != "StartError" && c.Reason != "ContainerCannotRun"
}

// ContainerWait describes a container that does not run, in the kubelet's words.
type ContainerWait struct {
	Name, Reason, Message string
	Kind                  ContainerKind
	MessageWithheld       bool // the message, or all but its first line, was not recorded (run --keep-messages)
}

// ConditionText holds the reason and the message of a pod's condition.
type ConditionText struct {
	Type, Status, Reason, Message string
	Since                         Time // lastTransitionTime, by the clock of the component that set it
}

package events

import "k8s.io/apimachinery/pkg/types"

// Evidence is what people want to know beside the facts. Decisions never read it. Texts are bounded by who makes them.
type Evidence struct {
	Namespace, Name string // of the object that the record is about
	Node            string // that a pod was assigned to
	Reason, Message string // text that others wrote: the pod's status, the API server's error
	Sentence        string // our words, for people
	Containers      []ContainerEnd
	Template        []byte // a redacted pod template, as JSON
	State           []byte // the names that belong to a stored state
	Owner           string // the name of the Job that owns a pod, where the stream does not know it yet
	// PassedOver is how many versions of the object were seen and not recorded since its record before: its namespace had
	// used up its share of the log (Settings.NamespaceBudget), or only what it waits for had changed, too often.
	PassedOver uint64

	Running    Time            // since when all regular containers of a pod run, by the node's clock; 0 when they do not
	Conditions []ConditionText // conditions of a pod that say why
	Waits      []ContainerWait // containers of a pod that wait, and say why
	Finalizers []string        // of an object that is being deleted: who else keeps it
	Gates      []string        // scheduling gates of a pod, by their names: it is not scheduled before all are taken off
	StillRun   []string        // containers of a pod that run although a regular one has ended for good: the pod does not end before them
	Origin     *Origin         // where a Job comes from, in the first record of its object; nil for nothing to tell
	// Admitted are the fields of a new pod's spec in which it differs from the Job's pod template, by what admission
	// changed: names with + for what was added and - for what was taken away; the name of an image has both behind it
	// ("containers[main].image a → b"). One empty name says that there are none; no name at all, that they are those of
	// the pod before it of its Job.
	Admitted []string
	Edit     *Edit // who made the Job, or changed its spec, as far as the object tells; nil for unknown
}

// Origin is where a Job comes from.
type Origin struct {
	Kind, Name   string // of its controller, such as a CronJob; empty when it has none
	UID          types.UID
	GenerateName string        // the stem of its own name, when the API server completed it
	Labels       []ObjectLabel // those that the operator wants to keep, by name
	Traceparent  string        // the W3C trace context in its annotation of that name
}

// ObjectLabel is a label of an object.
type ObjectLabel struct{ Name, Value string }

// Edit is who changed an object, as its managed fields say: the newest entry that covers the change.
type Edit struct {
	Manager   string // field manager, such as kubectl-edit
	Operation string // Update or Apply
	Time      Time   // by the API server's clock, in whole seconds
}

// ContainerKind says which of a pod's containers it is.
type ContainerKind uint8

// The kinds.
const (
	RegularContainer ContainerKind = 0
	InitContainer    ContainerKind = 1
	SidecarContainer ContainerKind = 2 // an init container that runs beside the regular ones
)

// String is the kind in a word.
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

// ContainerEnd is how one container of a pod ended last.
type ContainerEnd struct {
	Name              string
	ExitCode          int32
	Reason, Message   string
	Kind              ContainerKind
	Started, Finished Time   // by the node's clock, in whole seconds; 0 where it does not say
	Restarts          uint32 // how often it was started again
	Again             bool   // it runs or waits again
	MessageWithheld   bool   // its message, or all but the first line, was not kept (run --keep-messages)
}

// Lost reports whether nobody saw how the container ended: its kubelet or its runtime found no trace of it, and the
// exit code, the message and one restart are made up. Of a pod that is deleted before its containers start a kubelet
// says so, too.
func (c *ContainerEnd) Lost() bool {
	switch c.Reason {
	case "ContainerStatusUnknown": // of a kubelet, with 137
		return true
	case "Unknown": // of containerd, with 255
		return c.ExitCode == 255
	}
	return false
}

// Ran reports whether the container ran. If so, its message may be the program's own. If it could not be started, the
// message is the runtime's.
func (c *ContainerEnd) Ran() bool {
	return !c.Lost() && c.Reason != "StartError" && c.Reason != "ContainerCannotRun"
}

// ContainerWait is why a container of a pod does not run, in the kubelet's words.
type ContainerWait struct {
	Name, Reason, Message string
	Kind                  ContainerKind
	MessageWithheld       bool // as of a ContainerEnd
}

// ConditionText has the reason and the message of a condition of a pod.
type ConditionText struct {
	Type, Status, Reason, Message string
	Since                         Time // lastTransitionTime, by the clock of who set it
}

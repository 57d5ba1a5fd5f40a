package events

import "k8s.io/apimachinery/pkg/types"

// Task is a recorded command with all that is needed to carry it out. It is no record: it is computed from the state of
// the Job when the command's decision is durable, or again after a restart.
type Task struct {
	Name      CommandID
	Life      Identity // of the log when the command was decided: pods get their names from it
	Stream    Stream
	Job       JobRef // of a namespace's stream only the namespace
	ManagedBy string // spec.managedBy of the Job; empty when it is unset, or the Job was never seen
	Command   Command
	Priority  Priority   // as things stand: a Job that ends, or a deletion, makes it more urgent than its command is; 0 for that of the command
	Again     bool       // a try of it has ended, and was told
	Pod       PodRef     // of commands about an existing pod
	Status    *JobStatus // the whole status that a WriteStatus is to store; times count in whole seconds
	Base      uint64     // resourceVersion of the Job that Status was computed from, or else of the Job or CronJob as it is known
	Workload  string     // name of the Job's Workload, for the PodGroup of a CreatePodGroup; empty when none is known
	PodGroup  string     // name of the Job's PodGroup, which a CreatePod in a group is to name; empty when none is known
}

// PodRef names an existing pod, in the namespace of the task's Job.
type PodRef struct {
	Name    string
	UID     types.UID
	Unowned bool // it has no owner, so its tracking finalizer may be either one
}

// TaskResult has the end of a task, and the objects that it read. Observations come before Ended in the log.
type TaskResult struct {
	Stream       Stream
	Ended        CommandEnded
	Evidence     Evidence
	Observations []Observation
	// Again: if anything of the task was ever begun, an outcome of it was told before this one.
	Again bool
}

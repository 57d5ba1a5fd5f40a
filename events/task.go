package events

import "k8s.io/apimachinery/pkg/types"

// Task is a command with everything needed to carry it out. It is not recorded: it is computed from the state of the
// Job once the decision that has the command is stored, or again after a restart.
type Task struct {
	Name      CommandID
	Life      Identity // of the log when the command was decided: pod names depend on it
	Stream    Stream
	Job       JobRef // only the namespace is set for a command about a pod without an owner
	ManagedBy string // spec.managedBy of the Job; empty when it is unset, or the Job was never seen
	Command   Command
	// Priority is the present priority. It may be higher than PriorityOf(Command), after an end or a deletion of the
	// Job; 0 means PriorityOf(Command)
	Priority Priority
	Again    bool       // an earlier try has ended, and its outcome is recorded
	Pod      PodRef     // for commands about an existing pod
	Status   *JobStatus // the whole status that a WriteStatus stores; times have whole seconds
	// The resourceVersion that Status was computed from. Without Status: the last known one of the Job or CronJob
	Base     uint64
	Workload string // name of the Job's Workload, for a CreatePodGroup; empty when unknown
	PodGroup string // name of the Job's PodGroup, for a CreatePod in a group; empty when unknown
}

// PodRef names an existing pod in the namespace of the task's Job.
type PodRef struct {
	Name    string
	UID     types.UID
	Unowned bool // the pod has no owner, so its tracking finalizer may be ours or the built-in one
}

// TaskResult holds the outcome of a task and the objects that it read. The loop logs Observations before Ended.
type TaskResult struct {
	Stream       Stream
	Ended        CommandEnded
	Evidence     Evidence
	Observations []Observation
	// Again is copied from Task.Again: an earlier try has ended, and its outcome is in the log.
	Again bool
}

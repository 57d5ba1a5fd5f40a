package executor

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Task is a durable command with all that is needed to carry it out.
type Task struct {
	Name      events.CommandName
	Life      events.Identity // of the log when the command was decided: pods get their names from it
	Stream    events.Stream
	Job       events.JobRef // of a namespace's stream only the namespace
	ManagedBy string        // spec.managedBy of the Job; empty when it is unset, or the Job was never seen
	Command   events.Command
	Pod       PodRef            // of commands about an existing pod
	Status    *events.JobStatus // the whole status that a WriteStatus is to store; times count in whole seconds
	Base      uint64            // resourceVersion of the Job that Status was computed from, or that is known before a ReadJob
	Workload  string            // name of the Workload of which a CreatePodGroup is to make one
	PodGroup  string            // name of the PodGroup that a CreatePod in a group is to name
	Priority  Priority          // 0 for that of the command: see PriorityOf
}

// PodRef names an existing pod, in the namespace of the task's Job.
type PodRef struct {
	Name string
	UID  types.UID
}

// Result is how a task ended. Observations are what was read meanwhile; they come before Ended in the log.
type Result struct {
	Stream       events.Stream
	Ended        events.CommandEnded
	Evidence     events.Evidence
	Observations []events.Observation
}

// Priority says how urgent a task is. Between Jobs, tasks of Unblock and Create take turns; of one Job, Unblock goes first.
type Priority uint8

// The priorities, most urgent first.
const (
	Finish   Priority = 1 // writes that conclude a Job: users wait for them
	Unblock  Priority = 2 // what the Job's next steps wait for
	Create   Priority = 3 // the bulk of the work: pods to be made, and finalizers of those that are accounted for
	Progress Priority = 4 // status writes that only show how far the Job is
)

// PriorityOf is the priority that a command has when its task names none.
func PriorityOf(command events.Command) Priority {
	switch c := command.(type) {
	case *events.WriteStatus:
		return priorityOfWrite(&c.Change)
	case *events.CreatePod:
		return Create
	case *events.DropFinalizer:
		if !c.ThenDelete {
			return Create
		}
	}
	return Unblock
}

func priorityOfWrite(c *events.StatusChange) Priority {
	for _, condition := range c.Conditions {
		if terminal(condition) {
			return Finish
		}
	}
	if len(c.Conditions) > 0 || len(c.AddSucceeded)+len(c.AddFailed) > 0 || c.CompleteIndexes != "" || c.FailIndexes != "" {
		return Unblock // pods wait with their finalizer until this is stored
	}
	return Progress
}

func terminal(c events.JobCondition) bool {
	return c.Status == "True" && (c.Type == "Complete" || c.Type == "Failed")
}

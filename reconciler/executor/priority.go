package executor

import "github.com/jobledger/jobledger/events"

// Priority says how urgent a task is. Between Jobs, tasks of Unblock and Create take turns; of one Job, Unblock goes first.
type Priority uint8

// The priorities, most urgent first.
const (
	Finish   Priority = 1 // writes that conclude a Job: users wait for them
	Unblock  Priority = 2 // what the Job's next steps wait for
	Create   Priority = 3 // the bulk of the work: pods to be made, and finalizers of those that are accounted for
	Progress Priority = 4 // status writes that only show how far the Job is
)

// PriorityOf is the priority of the task of a command.
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

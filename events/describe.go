package events

import (
	"fmt"
	"strings"
)

// Describe says what a command asks for, in a few words for people. Texts that others wrote are not in it.
func Describe(c Command) string {
	switch c := c.(type) {
	case *CreatePod:
		text := fmt.Sprintf("create pod #%d", c.Ordinal)
		if c.Index != NoIndex {
			text += fmt.Sprintf(" for index %d", c.Index)
		}
		if c.InGroup {
			text += " in the group"
		}
		if c.Again {
			text += ", again"
		}
		return text
	case *DeletePod:
		return "delete pod " + string(c.Pod)
	case *DropFinalizer:
		if c.ThenDelete {
			return "remove finalizer of surplus pod " + string(c.Pod)
		}
		return "remove finalizer of pod " + string(c.Pod)
	case *WriteStatus:
		return "write status: " + describeChange(&c.Change)
	case *AdoptPod:
		if c.Spent {
			return "adopt counted pod " + string(c.Pod)
		}
		return "adopt pod " + string(c.Pod)
	case *ReleasePod:
		return "release pod " + string(c.Pod)
	case *ReadJob:
		return "read the Job"
	case *ReadPod:
		return fmt.Sprintf("look for pod #%d", c.Ordinal)
	case *FindGroup:
		return "look for the Job's Workload and PodGroup"
	case *CreateWorkload:
		return fmt.Sprintf("create Workload for a gang of %d", c.MinCount)
	case *CreatePodGroup:
		return "create PodGroup"
	case *Withdraw:
		return fmt.Sprintf("withdraw command %d/%d", c.Command.Decided, c.Command.Place)
	}
	return "unknown command"
}

func describeChange(c *StatusChange) string {
	var parts []string
	number := func(name string, v *int32) {
		if v != nil {
			parts = append(parts, fmt.Sprintf("%s %d", name, *v))
		}
	}
	list := func(name string, n int) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	number("active", c.Active)
	number("ready", c.Ready)
	number("terminating", c.Terminating)
	number("succeeded", c.Succeeded)
	number("failed", c.Failed)
	list("uncounted succeeded +", len(c.AddSucceeded))
	list("uncounted failed +", len(c.AddFailed))
	list("uncounted −", len(c.Counted))
	if c.CompleteIndexes != "" {
		parts = append(parts, "completed indexes + "+c.CompleteIndexes)
	}
	if c.FailIndexes != "" {
		parts = append(parts, "failed indexes + "+c.FailIndexes)
	}
	number("indexes below", c.TrimTo)
	if c.StartTime != 0 {
		parts = append(parts, "start time")
	}
	if c.ClearStartTime {
		parts = append(parts, "no start time")
	}
	if c.CompletionTime != 0 {
		parts = append(parts, "completion time")
	}
	for _, cond := range c.Conditions {
		parts = append(parts, fmt.Sprintf("%s=%s (%s)", cond.Type, cond.Status, cond.Reason))
	}
	if len(parts) == 0 {
		return "first"
	}
	return strings.Join(parts, ", ")
}

package events

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Describe returns in a few words, for people, what a command is for, such as "create pod 3". The text contains nothing
// that users wrote.
func Describe(c Command) string {
	return Phrase(c, func(pod types.UID) string { return string(pod) })
}

// Phrase returns in a few words what a command is for, as Describe does, but with names of pods: pod returns the name
// of the pod with a UID.
func Phrase(c Command, pod func(types.UID) string) string { return c.phrase(pod) }

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

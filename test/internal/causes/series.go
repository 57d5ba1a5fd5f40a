package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Series returns the history of a pod as lines, one for each state, in the order in which the states first appear. Each
// line comes only once: a pod whose image cannot be pulled alternates between two states forever. Versions in which
// containers are being created are skipped, except the last version.
func Series(versions []*corev1.Pod) (all []string) {
	for i, p := range versions {
		if line := Line(p); !slices.Contains(all, line) && (i == len(versions)-1 || !beingMade(p)) {
			all = append(all, line)
		}
	}
	return all
}

func beingMade(p *corev1.Pod) bool {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w == nil || w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return false
		}
	}
	return true
}

// Line describes one version of a pod, reduced to what an answer can depend on: phase, reason and message, deletion,
// readiness, the conditions that Jobledger reports, and the state of each container. It has no names, times, sizes or
// addresses.
func Line(p *corev1.Pod) string {
	parts := []string{strings.Join(slices.DeleteFunc([]string{
		string(p.Status.Phase), p.Status.Reason, quoted(p.Status.Message), deleting(p), ready(p),
	}, func(s string) bool { return s == "" }), " ")}
	for _, c := range p.Status.Conditions {
		if !isProgress(&c) {
			parts = append(parts, words(fmt.Sprintf("%s=%s", c.Type, c.Status), c.Reason, quoted(c.Message)))
		}
	}
	for _, c := range p.Status.InitContainerStatuses {
		parts = append(parts, "init "+container(&c))
	}
	for _, c := range p.Status.ContainerStatuses {
		parts = append(parts, container(&c))
	}
	return strip(p, strings.Join(parts, " | "))
}

func words(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%q", text)
}

func deleting(p *corev1.Pod) string {
	if p.DeletionTimestamp == nil {
		return ""
	}
	return fmt.Sprintf("deleted with %d s", *p.DeletionGracePeriodSeconds)
}

func ready(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return "ready"
		}
	}
	return ""
}

// isProgress reports whether a condition only says how far a pod has started. Package observation ignores the same
// conditions.
func isProgress(c *corev1.PodCondition) bool {
	switch c.Type {
	case corev1.PodReady, corev1.PodInitialized, corev1.ContainersReady, corev1.PodScheduled, corev1.PodReadyToStartContainers:
		generic := []string{"", "ContainersNotReady", "ContainersNotInitialized", "PodCompleted", "PodFailed"}
		return c.Status == corev1.ConditionTrue || slices.Contains(generic, c.Reason)
	}
	return false
}

func container(c *corev1.ContainerStatus) string {
	text := c.Name + " " + state(&c.State)
	if c.RestartCount > 0 {
		text += fmt.Sprintf(", restarted %d times", c.RestartCount)
	}
	if t := c.LastTerminationState.Terminated; t != nil {
		text += ", before " + state(&c.LastTerminationState)
	}
	return text
}

func state(s *corev1.ContainerState) string {
	switch {
	case s.Running != nil:
		return "running"
	case s.Terminated != nil:
		return words(fmt.Sprintf("exit %d", s.Terminated.ExitCode), s.Terminated.Reason, quoted(s.Terminated.Message))
	case s.Waiting != nil:
		return words("waits", s.Waiting.Reason, quoted(s.Waiting.Message))
	}
	return "unknown"
}

// accidental lists parts of a line that differ from run to run, with their replacements.
var accidental = []struct {
	is *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`[0-9a-f]{64}`), "<id>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<uid>"},
	{regexp.MustCompile(`https?://[^/ ]+/`), "<url>"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+:\d+\b`), "<address>"},
	{regexp.MustCompile(`\b\d+(Ki|Mi|Gi|Ti)\b|\b(quantity|available): \d+\b`), "<size>"},
	{regexp.MustCompile(`\b(requested|used|capacity): \d+`), "$1: <n>"},
}

// strip replaces the parts of a line that differ from run to run.
func strip(p *corev1.Pod, line string) string {
	for name, to := range map[string]string{p.Name: "<pod>", p.Namespace: "<namespace>", p.Spec.NodeName: "<node>"} {
		if name != "" {
			line = strings.ReplaceAll(line, name, to)
		}
	}
	for _, a := range accidental {
		line = a.is.ReplaceAllString(line, a.to)
	}
	return line
}

package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
)

func (n *Names) jobSeen(r *events.Record, f *events.JobSeen) string {
	var parts []string
	if r.Kind == events.KindJobAdded {
		switch {
		case !f.Managed:
			parts = append(parts, "not ours")
		case f.ManagedBy == "":
			parts = append(parts, "without managedBy")
		default:
			parts = append(parts, "managed by "+f.ManagedBy)
		}
		if o := r.Evidence.Origin; o != nil && o.Kind != "" {
			parts = append(parts, "of "+o.Kind+" "+o.Name)
		}
	}
	edits := n.edits(r, f)
	if e := r.Evidence.Edit; e != nil && len(edits) > 0 {
		edits[len(edits)-1] += ", by " + e.Manager
	} else if e != nil && r.Kind == events.KindJobAdded {
		edits = append(edits, "made by "+e.Manager)
	}
	parts = append(parts, edits...)
	if f.Deleted != 0 {
		parts = append(parts, "being deleted since "+n.Zone.bare(f.Deleted, "15:04:05"))
	}
	switch {
	case f.Confirms != events.CommandID{}:
		parts = append(parts, fmt.Sprintf("status stored, as record %d decided", f.Confirms.Decided))
	case f.Status != nil && !fresh(f.Status):
		parts = append(parts, statusText(f.Status))
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("generation %d, version %d", f.Generation, f.Version))
	}
	return strings.Join(parts, "; ")
}

// fresh reports whether no controller has written the Job's status yet.
func fresh(s *events.JobStatus) bool {
	return s.Active+s.Succeeded+s.Failed == 0 && s.StartTime == 0 && !s.HasUncounted && len(s.Conditions) == 0
}

func statusText(s *events.JobStatus) string {
	text := fmt.Sprintf("status: active %d, succeeded %d, failed %d", s.Active, s.Succeeded, s.Failed)
	if uncounted := len(s.UncountedSucceeded) + len(s.UncountedFailed); uncounted > 0 {
		text += fmt.Sprintf(", uncounted %d", uncounted)
	}
	for _, c := range s.Conditions {
		if c.Status == "True" {
			text += ", " + c.Type
			if c.Reason != "" {
				text += " (" + c.Reason + ")"
			}
		}
	}
	return text
}

func podSeen(r *events.Record, f *events.PodSeen, zone Zone) string {
	var parts []string
	switch {
	case f.Phase == events.PodPhaseNone || f.Phase == events.PodPending:
		parts = append(parts, "Pending")
		if r.Evidence.Node != "" || f.Scheduled {
			parts[0] += ", scheduled"
		}
	default:
		parts = append(parts, f.Phase.String())
	}
	if f.Ready {
		parts = append(parts, "ready")
	}
	if f.Waiting != "" {
		parts = append(parts, "waits: "+Because(f.Waiting, WaitMessage(f, &r.Evidence)))
	}
	parts = append(parts, exits(f, r.Evidence.Containers)...)
	if f.Index != events.NoIndex {
		parts = append(parts, fmt.Sprintf("index %d", f.Index))
	}
	if r.Evidence.Node != "" {
		parts = append(parts, "on "+r.Evidence.Node)
	}
	if told := r.Evidence.Admitted; len(told) == 1 && told[0] == "" {
		parts = append(parts, "admission changed nothing")
	} else if len(told) > 0 {
		parts = append(parts, "admission changed it ("+Admitted(told)+")")
	}
	if f.Deleted != 0 {
		parts = append(parts, "being deleted, "+asked(r, f, zone))
	}
	if !f.Tracked {
		parts = append(parts, "finalizer gone")
	}
	e := r.Evidence
	if f.Waiting == initializing {
		e.StillRun = nil // the wait message already names the containers that still run
	}
	return strings.Join(append(parts, podEvidence(&e)...), ", ")
}

// podEvidence returns what the kubelet, admission and the containers tell about a pod, as phrases.
func podEvidence(e *events.Evidence) (parts []string) {
	if e.Reason != "" {
		parts = append(parts, Because(e.Reason, e.Message))
	}
	for _, c := range e.Conditions {
		if c.Type == "DisruptionTarget" {
			parts = append(parts, c.Type+"="+c.Status+" "+Because(c.Reason, c.Message))
		}
	}
	if gates := e.Gates; len(gates) > 0 {
		parts = append(parts, "gated by "+strings.Join(gates, ", "))
	}
	if names := e.StillRun; len(names) > 0 {
		parts = append(parts, strings.Join(names, ", ")+" still running")
	}
	for _, name := range e.Finalizers {
		parts = append(parts, "kept by finalizer "+name)
	}
	for _, c := range e.Containers {
		switch {
		case c.Message != "" && c.MessageWithheld:
			parts = append(parts, fmt.Sprintf("%s says %q (%s)", c.Name, c.Message, events.FirstLineKept))
		case c.Message != "":
			parts = append(parts, fmt.Sprintf("%s says %q", c.Name, c.Message))
		case c.MessageWithheld:
			parts = append(parts, c.Name+": "+events.NotKept)
		}
	}
	return parts
}

// initializing is the waiting reason of containers while the init containers run.
const initializing = "PodInitializing"

// WaitMessage says why a pod waits: by the message of the scheduler or the kubelet, or by the names of the init
// containers that have not ended.
func WaitMessage(f *events.PodSeen, e *events.Evidence) string {
	if text := f.Sandbox.String(); text != "" {
		return text
	}
	word := f.Waiting
	if word == initializing && len(e.StillRun) > 0 {
		return "held up by init container " + strings.Join(e.StillRun, ", ")
	}
	for _, c := range e.Conditions {
		if c.Type == "PodScheduled" && c.Reason == word || c.Type == "PodReadyToStartContainers" && f.Sandbox == events.SandboxOther {
			return c.Message
		}
	}
	for _, w := range e.Waits {
		if w.Reason == word {
			return w.Said()
		}
	}
	return ""
}

// exits says how the containers of a pod ended: first how often they were restarted, then the exits that ended the
// pod, then earlier exits of containers that were restarted.
func exits(f *events.PodSeen, ends []events.ContainerEnd) []string {
	var parts []string
	if f.Restarts > 0 {
		parts = append(parts, "restarted "+Times(f.Restarts))
	}
	for _, x := range f.Exits {
		reason := ""
		for _, e := range ends {
			if e.Name == x.Name && e.ExitCode == x.Code {
				reason = e.Reason
			}
		}
		parts = append(parts, Exit(x.Name+" exit", x.Code, reason))
	}
	for _, e := range ends {
		current := slices.ContainsFunc(f.Exits, func(x events.ContainerExit) bool { return x.Name == e.Name })
		if !current && (e.ExitCode != 0 || Telling(e.Reason)) {
			parts = append(parts, Exit(e.Name+" exit", e.ExitCode, e.Reason)+" before")
		}
	}
	return parts
}

// Times returns "once" or "3 times".
func Times(n uint32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// asked says when the deletion of a pod was requested, or before which time, if the record tells only that.
func asked(r *events.Record, f *events.PodSeen, zone Zone) string {
	at, exact := f.Asked()
	if f.DeletionGracePeriodSeconds == nil {
		at = min(at, r.Time)
	}
	text := "asked for at " + zone.bare(at, "15:04:05")
	if !exact {
		return text + " at the latest"
	}
	return fmt.Sprintf("%s, %ds to stop", text, *f.DeletionGracePeriodSeconds)
}

func specText(s *events.JobSpec) string {
	var parts []string
	number := func(name string, v *int32) {
		if v != nil {
			parts = append(parts, fmt.Sprintf("%s %d", name, *v))
		}
	}
	if s.CompletionMode != "" {
		parts = append(parts, s.CompletionMode)
	}
	number("completions", s.Completions)
	number("parallelism", s.Parallelism)
	number("backoffLimit", s.BackoffLimit)
	if s.ActiveDeadlineSeconds != nil {
		parts = append(parts, fmt.Sprintf("deadline %ds", *s.ActiveDeadlineSeconds))
	}
	if s.Suspend {
		parts = append(parts, "suspended")
	}
	return strings.Join(parts, ", ")
}

func templateText(r *events.Record, f *events.JobTemplate) string {
	text := fmt.Sprintf("redacted, %d bytes", f.Size)
	if len(r.Evidence.Template) == 0 {
		text += ": not kept, or erased since"
	}
	return text
}

func policiesText(f *events.JobPolicies) string {
	var parts []string
	for _, p := range []struct{ name, text string }{
		{"selector", f.Selector}, {"podFailurePolicy", f.PodFailurePolicy}, {"successPolicy", f.SuccessPolicy},
	} {
		if p.text != "" {
			parts = append(parts, fmt.Sprintf("%s of %d bytes", p.name, len(p.text)))
		}
	}
	return strings.Join(parts, ", ")
}

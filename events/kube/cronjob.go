package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// FailedGet is the reason of the Event for a Job that was to be replaced and could not be read (C-200).
const FailedGet = "FailedGet"

// cronTellings holds the texts of Events about commands for a CronJob. After a success the name of the Job follows,
// after a failure the API server's message.
var cronTellings = [events.MaxCommandKind + 1]telling{
	events.CommandCreateJob: {done: SuccessfulCreate, doneText: "Created job ", failed: FailedCreate, failedText: "Error creating job: "},
	// The text of the failure is almost the same as that of the success, as in the built-in controller
	events.CommandDeleteRun: {done: SuccessfulDelete, doneText: "Deleted job ", failed: FailedDelete, failedText: "Deleted job: "},
	events.CommandReadRun:   {failed: FailedGet, failedText: "Get job: "},
}

// tells reports whether a record about a CronJob may lead to an Event.
func tells(rec *events.Record) bool {
	switch f := rec.Facts.(type) {
	case *events.CommandEnded:
		return f.Type <= events.MaxCommandKind && cronTellings[f.Type] != (telling{})
	case *events.Decision:
		return rec.Kind == events.KindDecided
	}
	return false
}

// cronEnd adds the Event about the outcome of a command for a CronJob.
func (m *maker) cronEnd(ended *events.CommandEnded) {
	if !tells(m.rec) || ended.Type == events.CommandReadRun && !ended.Replacing {
		return
	}
	t := &cronTellings[ended.Type]
	words := m.rec.Evidence.Message
	if words == "" {
		words = m.rec.Evidence.Sentence
	}
	switch {
	case ended.Ending == events.Done && t.done != "":
		m.add(corev1.EventTypeNormal, t.done, t.doneText+m.rec.Evidence.Name)
	case ended.Ending != events.Done && ended.Ending != events.Withdrawn && words != "" && !silent[ended.Class]:
		m.add(corev1.EventTypeWarning, t.failed, t.failedText+words)
	}
}

// silent lists the refusals of a create that lead to no Event: the namespace is being deleted (C-162); another object
// has the name, which a read then looks at (C-160); the jobTemplate has changed, so the command was dropped.
var silent = map[events.RefusalClass]bool{
	events.RefusedNamespaceTerminating: true, events.RefusedNameTaken: true, events.RefusedTemplate: true,
}

// normal lists the reasons of notices with type Normal; all others are warnings (C-200).
var normal = map[string]bool{"SawCompletedJob": true, "MissingJob": true, "JobAlreadyActive": true}

// notices adds the Events that a decision for a CronJob asks for, in order (C-201).
func (m *maker) notices(d *events.Decision) {
	if !tells(m.rec) || m.rec.Stream.Kind != events.StreamCronJob {
		return
	}
	for i := range d.Steps {
		if d.Steps[i].Cron == nil {
			continue
		}
		for _, n := range d.Steps[i].Cron.Notices {
			kind := corev1.EventTypeWarning
			if normal[n.Reason] {
				kind = corev1.EventTypeNormal
			}
			m.add(kind, n.Reason, n.Message)
		}
	}
}

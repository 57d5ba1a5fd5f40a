package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// FailedGet is the reason of the Event that a Job could not be read that was to be replaced (C-200).
const FailedGet = "FailedGet"

// cronTellings is how Events tell of the ends of commands for a CronJob. The name of the Job follows what is done, the
// API server's words what is not.
var cronTellings = [events.MaxCommandKind + 1]telling{
	events.CommandCreateJob: {done: SuccessfulCreate, doneText: "Created job ", failed: FailedCreate, failedText: "Error creating job: "},
	events.CommandDeleteRun: {done: SuccessfulDelete, doneText: "Deleted job ", failed: FailedDelete, failedText: "Deleted job: "}, // it really begins so
	events.CommandReadRun:   {failed: FailedGet, failedText: "Get job: "},
}

// tells reports whether an Event may tell of a record of a CronJob's stream.
func tells(rec *events.Record) bool {
	switch f := rec.Facts.(type) {
	case *events.CommandEnded:
		return f.Type <= events.MaxCommandKind && cronTellings[f.Type] != (telling{})
	case *events.Decision:
		return rec.Kind == events.KindDecided
	}
	return false
}

// cronEnd tells how a command for a CronJob ended.
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

// silent are refusals of which users do not hear: that the namespace is being deleted (C-162), that another object has
// the name, which is looked at (C-160), and that we changed our mind because the jobTemplate did.
var silent = map[events.RefusalClass]bool{
	events.RefusedNamespaceTerminating: true, events.RefusedNameTaken: true, events.RefusedTemplate: true,
}

// normal are the reasons of notices that are no warnings (C-200).
var normal = map[string]bool{"SawCompletedJob": true, "MissingJob": true, "JobAlreadyActive": true}

// notices are the Events that a decision for a CronJob asks for, in their order (C-201).
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

package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// The reasons of Events, as the built-in Job controller spells them (J-194). The Event of a failed Job has the reason
// of its condition.
const (
	SuccessfulCreate     = "SuccessfulCreate"
	FailedCreate         = "FailedCreate"
	SuccessfulDelete     = "SuccessfulDelete"
	FailedDelete         = "FailedDelete"
	Suspended            = "Suspended"
	Resumed              = "Resumed"
	Completed            = "Completed"
	TooManySucceededPods = "TooManySucceededPods"
	WorkloadCreated      = "WorkloadCreated"
	PodGroupCreated      = "PodGroupCreated"
	FailedWorkloadCreate = "FailedWorkloadCreate"

	// FailedWorkloadCompilation is the reason when spec.scheduling cannot be expressed as a Workload.
	FailedWorkloadCompilation = "FailedWorkloadCompilation"
	// NoPodGroupTemplate: the owner delegates the PodGroup, and no Workload has the template that the Job names.
	NoPodGroupTemplate = "NoPodGroupTemplate"
	// GangSchedulingOff: the Job has a spec.scheduling, and the controller makes no Workloads. The built-in controller
	// sends no Event in this case.
	GangSchedulingOff = "GangSchedulingOff"

	UnknownCompletionMode = "UnknownCompletionMode"
)

// Event is a Kubernetes Event about a Job or a CronJob, before it is written.
type Event struct {
	Job     events.JobRef // or the CronJob
	CronJob bool          // the Event is about a CronJob
	Type    string        // Normal or Warning
	Reason  string
	Message string
	Record  events.Sequence // record that the Event reports
	At      events.Time     // time of that record
	Verdict string          // for the end of a Job: how it ended and why, in one line; empty when unknown
}

// Context holds what Of needs to know in addition to the record.
type Context struct {
	Job events.JobRef
	// Command is the command whose outcome the record reports; nil when that leads to no Event, or the log no longer
	// has the command
	Command events.Command
	// Completions is spec.completions; nil when unset or unknown. Only needed for the end of a Job.
	Completions *int32
	// Succeeded is the count in the stored status, if the write that ends the Job does not change it.
	Succeeded int32
	// Verdict is the sentence of the decision that ends the Job: why it ended.
	Verdict string
	// UnknownMode says that this program does not know the Job's completionMode.
	UnknownMode bool
	// GangsOff: the record is the first of a Job with a spec.scheduling, and the controller makes no Workloads.
	GangsOff bool
}

// Of returns the Kubernetes Events that a record leads to, in order.
func Of(rec *events.Record, c Context) []Event {
	m := maker{rec: rec, job: c.Job}
	var ended events.CommandEnded
	switch f := rec.Facts.(type) {
	case *events.CommandEnded:
		if rec.Stream.Kind == events.StreamCronJob {
			m.cronEnd(f)
			return m.made
		}
		ended = *f
	case *events.Decision:
		m.notices(f)
		return m.made
	case *events.JobSeen:
		if c.UnknownMode {
			m.add(corev1.EventTypeWarning, UnknownCompletionMode, "Skipped Job sync because completion mode is unknown")
		}
		if c.GangsOff {
			m.add(corev1.EventTypeWarning, GangSchedulingOff,
				"spec.scheduling has no effect: pods are made without a Workload and a PodGroup, as --gang-scheduling is off")
		}
		if f.Confirms == (events.CommandID{}) {
			return m.made
		}
		ended.Ending = events.Done
	case *events.GroupSeen:
		if f.Delegated && !f.WorkloadUsable {
			m.add(corev1.EventTypeWarning, NoPodGroupTemplate,
				"Pods are made without a PodGroup: the Job's owner has no Workload with the podGroupTemplate that the Job names")
		}
		return m.made
	default:
		return nil
	}
	if write, ok := c.Command.(*events.WriteStatus); ok {
		if ended.Ending == events.Done {
			m.status(&write.Change, &c)
		}
	} else if c.Command != nil {
		m.end(&ended, &tellings[c.Command.Traits().Kind])
	}
	return m.made
}

// telling holds the texts of the Events about the outcomes of one kind of command. The zero telling means no Events.
type telling struct {
	done, doneText, ofJob string // on success: reason, text before the object's name, text before the Job's name
	failed, failedText    string // on failure: reason, and text before the API server's message; empty for no Event
}

// tellings is indexed by kind. A status write leads to Events about its conditions instead.
var tellings = [events.MaxCommandKind + 1]telling{
	events.CommandCreatePod: {done: SuccessfulCreate, doneText: "Created pod: ", failed: FailedCreate, failedText: "Error creating: "},
	events.CommandDeletePod: {done: SuccessfulDelete, doneText: "Deleted pod: ", failed: FailedDelete, failedText: "Error deleting: "},
	events.CommandCreateWorkload: {
		done: WorkloadCreated, doneText: "Created Workload ", ofJob: " for Job ",
		failed: FailedWorkloadCreate, failedText: "Failed to create Workload",
	},
	events.CommandCreatePodGroup: {
		done: PodGroupCreated, doneText: "Created PodGroup ", ofJob: " for Job ",
		failed: FailedWorkloadCreate, failedText: "Failed to create PodGroup",
	},
	events.CommandFindGroup:   {failed: FailedWorkloadCreate, failedText: "Failed to look for Workload and PodGroup"},
	events.CommandResizeGroup: {failed: FailedWorkloadCreate, failedText: "Failed to change minCount of Workload and PodGroup"},
}

type maker struct {
	rec  *events.Record
	job  events.JobRef
	made []Event
}

func (m *maker) add(kind, reason, message string) {
	m.made = append(m.made, Event{
		Job: m.job, CronJob: m.rec.Stream.Kind == events.StreamCronJob,
		Type: kind, Reason: reason, Message: message, Record: m.rec.Sequence, At: m.rec.Time,
	})
}

func (m *maker) last() *Event { return &m.made[len(m.made)-1] }

// end adds the Event about the outcome of a command. A time-out is reported as a failure, whatever the real outcome. If
// we gave up waiting ourselves, there is no message of the server, and no Event.
func (m *maker) end(ended *events.CommandEnded, t *telling) {
	words := m.rec.Evidence.Message
	if words == "" && ended.Ending == events.Refused {
		words = m.rec.Evidence.Sentence // our own words, because the request never reached the server
	}
	switch {
	case ended.Ending == events.Done && t.done != "":
		text := t.doneText + m.rec.Evidence.Name
		if t.ofJob != "" {
			text += t.ofJob + m.job.Name
		}
		m.add(corev1.EventTypeNormal, t.done, text)
	case ended.Ending != events.Done && t.failed != "" && words != "" && told(ended, t.failed == FailedDelete):
		m.failure(ended, t, words)
	}
}

// failure adds the Event of a failure. Like the built-in controller's, the text about a group names the Job.
func (m *maker) failure(ended *events.CommandEnded, t *telling, words string) {
	reason, text := t.failed, t.failedText
	if reason == FailedWorkloadCreate {
		text += " for Job " + m.job.Name + ": "
		if ended.Type == events.CommandCreateWorkload && ended.Class == events.RefusedInvalid && !ended.Sent {
			reason, text = FailedWorkloadCompilation, "Failed to compile Workload for Job "+m.job.Name+": "
		}
	}
	m.add(corev1.EventTypeWarning, reason, text+words)
}

// told reports whether a failed command leads to an Event. It returns false in these cases: the namespace is being
// deleted (J-059); an object to delete is gone (a conflict means that another pod has its name); the template has
// changed, so the command was dropped.
func told(ended *events.CommandEnded, deletion bool) bool {
	switch ended.Class {
	case events.RefusedNamespaceTerminating, events.RefusedNotFound, events.RefusedTemplate:
		return false
	case events.RefusedConflict:
		return !deletion
	default:
		return ended.Ending == events.Refused || ended.Ending == events.OutcomeUnknown
	}
}

// status adds the Events about conditions of the Job that a stored status write has changed.
func (m *maker) status(change *events.StatusChange, known *Context) {
	succeeded := known.Succeeded
	if change.Succeeded != nil {
		succeeded = *change.Succeeded
	}
	for _, c := range change.Conditions {
		holds := c.Status == string(corev1.ConditionTrue)
		switch {
		case c.Type == "Complete" && holds:
			if known.Completions != nil && succeeded > *known.Completions {
				m.add(corev1.EventTypeWarning, TooManySucceededPods, "Too many succeeded pods running after completion count reached")
			}
			m.add(corev1.EventTypeNormal, Completed, "Job completed")
			m.last().Verdict = known.Verdict
		case c.Type == "Failed" && holds:
			m.add(corev1.EventTypeWarning, c.Reason, c.Message)
			m.last().Verdict = known.Verdict
		case c.Type == "Suspended" && holds:
			m.add(corev1.EventTypeNormal, Suspended, "Job suspended")
		case c.Type == "Suspended":
			m.add(corev1.EventTypeNormal, Resumed, "Job resumed")
		}
	}
}

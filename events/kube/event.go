package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
)

// The reasons of Events, as the built-in Job controller spells them (J-194). A Job that failed has the
// reason of its condition.
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

	// FailedWorkloadCompilation: what spec.scheduling says cannot be put into a Workload.
	FailedWorkloadCompilation = "FailedWorkloadCompilation"
	// NoPodGroupTemplate: the owner of a Job has a PodGroup made for it, and no Workload with the template that the Job
	// names.
	NoPodGroupTemplate = "NoPodGroupTemplate"
	// GangSchedulingOff: a Job has a spec.scheduling, and no Workloads are made. The built-in controller says nothing
	// then.
	GangSchedulingOff = "GangSchedulingOff"

	UnknownCompletionMode = "UnknownCompletionMode"
)

// Event is a Kubernetes Event about a Job or a CronJob, before it is written.
type Event struct {
	Job     events.JobRef // or the CronJob
	CronJob bool          // it is about a CronJob
	Type    string        // Normal or Warning
	Reason  string
	Message string
	Record  events.Sequence // the record that it tells of
	At      events.Time     // of that record
	Verdict string          // of an Event that says how the Job ended: how and why in one line; empty when it is not known
}

// Context is what Of needs to know beside a record.
type Context struct {
	Job     events.JobRef
	Command events.Command // the one whose end the record tells; nil when no Event tells of it, or it is not known any more
	// Completions of the Job's spec; nil when unset or not known. Only the end of a Job asks for it.
	Completions *int32
	// Succeeded is how many pods the stored status counts when the write that ends the Job does not change their number.
	Succeeded int32
	// Verdict is what the decision that ends the Job says of it in one line.
	Verdict string
	// UnknownMode: the Job's completionMode is one that this program does not know.
	UnknownMode bool
	// GangsOff: the Job has a spec.scheduling, and was seen first with it, and the controller makes no Workloads.
	GangsOff bool
}

// Of is the Events that a record gives rise to, in their order.
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

// telling is how Events tell of the ends of commands of one kind. The zero telling tells of none.
type telling struct {
	done, doneText, ofJob string // reason and text; the object's name follows, and after ofJob the Job's
	failed, failedText    string // reason and text; the API server's words follow. Empty when failures are not told
}

// tellings are by kind. Of status writes their conditions are told.
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

// end tells how a command ended. A time-out is a failure to users, whatever comes of it. A call that we gave up
// ourselves has no words of anybody else, and is none.
func (m *maker) end(ended *events.CommandEnded, t *telling) {
	words := m.rec.Evidence.Message
	if words == "" && ended.Ending == events.Refused {
		words = m.rec.Evidence.Sentence // it never reached the server
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

// failure tells of a failure. Those about the group name the Job, as the built-in's do.
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

// told reports whether a failure is one that users hear of: not that the namespace is being deleted (J-059), not that
// what is to be deleted is gone (a conflict says that another pod has its name), and not that we changed our mind
// because the template did.
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

// status tells of the conditions that a stored status brought.
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

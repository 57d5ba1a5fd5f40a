package history

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// State is the state of a Job in one word.
type State string

// The states of a Job.
const (
	StateUnseen    State = "Unseen"    // known only from pods that it owns, or from the record of its spec
	StateUnmanaged State = "Unmanaged" // another controller manages it
	StateWaiting   State = "Waiting"   // it is active, and none of its pods runs
	StateRunning   State = "Running"
	StateSuspended State = "Suspended"
	StateFailing   State = "Failing"   // it will be Failed, and its pods are being deleted
	StateFinishing State = "Finishing" // it will be Complete, and its pods are stopping
	StateComplete  State = "Complete"
	StateFailed    State = "Failed"
	// StateFinished: the Job is Complete or Failed, but which of the two is unknown. The records that say it are pruned
	// (deleted) or damaged.
	StateFinished State = "Finished"
	StateDeleting State = "Deleting"
	StateDeleted  State = "Deleted" // its object was deleted before it finished
)

// States lists all states.
var States = []State{
	StateUnseen, StateUnmanaged, StateWaiting, StateRunning, StateSuspended, StateFailing, StateFinishing, StateComplete, StateFailed, StateFinished,
	StateDeleting, StateDeleted,
}

// stateOf returns the state of a Job, and the reason and the message of the condition that determines the state.
func stateOf(a *Account) (state State, reason, message string) {
	j := a.job
	for _, row := range []struct {
		condition string
		state     State
	}{
		{status.Complete, StateComplete}, {status.Failed, StateFailed},
		{status.FailureTarget, StateFailing}, {status.SuccessCriteriaMet, StateFinishing},
		{status.Suspended, StateSuspended},
	} {
		if j.Base.True(row.condition) {
			if row.state == StateSuspended && j.Spec != nil && !j.Spec.Suspend {
				break // if spec.suspend is false again, the Job was resumed, and only its status still says Suspended
			}
			c := j.Base.Condition(row.condition)
			state, reason, message = row.state, c.Reason, c.Message
			break
		}
	}
	switch {
	case j.Finished():
		return state, reason, message
	case a.removed():
		return StateDeleted, reason, message
	case !j.Known():
		return StateUnseen, "", ""
	case !j.Managed:
		return StateUnmanaged, reason, message
	case j.Deleted != 0:
		return StateDeleting, reason, message
	case state != "":
		return state, reason, message
	case j.Spec != nil && j.Spec.Suspend:
		return StateSuspended, "", ""
	case anyRuns(j):
		return StateRunning, "", ""
	}
	if j.GroupHeld() && j.Tally().Active == 0 {
		return StateWaiting, NoPodGroup, "its Workload or its PodGroup cannot be made or read: " + j.Regrouping().Class.String()
	}
	return StateWaiting, "", ""
}

// removed reports whether the Job's object is gone: the watch reported the deletion, or a read did not find the object.
func (a *Account) removed() bool { return a.Deleted != 0 || a.job != nil && a.job.Gone }

// NoPodGroup is the reason of a Waiting Job that gets no pods, because the API server refuses its PodGroup or Workload.
const NoPodGroup = "NoPodGroup"

// anyRuns reports whether a pod of the Job was seen running and has not ended.
func anyRuns(j *projector.Job) bool {
	t := j.Tally()
	return t.Ready > 0 || t.Active+t.Terminating > 0 && slices.ContainsFunc(j.Pods(), func(p *projector.Pod) bool { return p.Phase == events.PodRunning && !p.Gone })
}

// finished returns when the Job became Complete or Failed, by the time of its condition; 0 if it has not.
func finished(j *projector.Job) events.Time {
	for _, kind := range []string{status.Complete, status.Failed} {
		if j.Base.True(kind) {
			return j.Base.Condition(kind).Since
		}
	}
	return 0
}

// Summary is one line of `jobledger get jobs`. Its JSON changes only by adding fields.
type Summary struct {
	Namespace string             `json:"namespace"`
	Name      string             `json:"name"`
	UID       string             `json:"uid"`
	State     State              `json:"state"`
	Reason    string             `json:"reason,omitempty"`
	Gone      bool               `json:"gone,omitempty"` // the object was deleted
	Counts    Counts             `json:"counts"`
	Created   recordjson.Instant `json:"created,omitzero"`
	Started   recordjson.Instant `json:"started,omitzero"`
	Finished  recordjson.Instant `json:"finished,omitzero"`
	First     uint64             `json:"first,omitempty"`
	Last      uint64             `json:"last"`
	Records   uint64             `json:"records"`

	Labels map[string]string `json:"labels,omitempty"` // labels that the log keeps (option --keep-labels)
	Why    *Why              `json:"why,omitempty"`    // set on request, by package explain
}

// Why says in one line why a Job ended as it did, or what it waits for.
type Why struct {
	Text string `json:"text"`
	// Whole is Text with the full messages of users or of the API server, if Text cuts one.
	Whole   string   `json:"whole,omitempty"`
	Records []uint64 `json:"records,omitempty"` // records that prove Text
}

// SummaryOf returns the summary of the Job with account a.
func SummaryOf(a *Account) Summary {
	if a.summary != nil {
		s := *a.summary
		s.Last, s.Records, s.Gone = uint64(a.Last), a.Records, s.Gone || a.removed()
		if s.Gone && !s.State.over() {
			s.State = StateDeleted
		}
		if s.Name == "" { // if the stored summary has no name, use the one that a later record told (Account.end)
			s.Namespace, s.Name = a.ended.ref.Namespace, a.ended.ref.Name
		}
		return s
	}
	s := Summary{UID: a.Stream.ID, State: StateUnseen, First: uint64(a.First), Last: uint64(a.Last), Records: a.Records}
	j := a.job
	if j == nil {
		s.Namespace, s.Name, s.Gone = a.ended.ref.Namespace, a.ended.ref.Name, a.removed()
		if a.ended.finished != 0 {
			s.State, s.Finished = StateFinished, recordjson.Instant(a.ended.finished)
		}
		return s
	}
	s.Namespace, s.Name = j.Ref.Namespace, j.Ref.Name
	s.State, s.Reason, _ = stateOf(a)
	s.Gone = a.removed()
	s.Counts = countsOf(j)
	s.Created, s.Started, s.Finished = recordjson.Instant(j.Created), recordjson.Instant(j.StartTime()), recordjson.Instant(finished(j))
	if o := originOf(j.Origin); o != nil {
		s.Labels = o.Labels
	}
	return s
}

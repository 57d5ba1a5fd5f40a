package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Decision holds the steps that one turn of the loop decided for one Job or CronJob. A decision without steps is not
// written to the log.
type Decision struct {
	Steps        []Step
	RulesVersion uint32
}

// Step is what one rule decided: its commands and the reason for them. Sentence is for people; no decision reads it.
type Step struct {
	Stage, Rule string
	Reason      Reason
	Sentence    string
	Commands    []Command
	Cron        *CronStep `json:",omitempty"` // changes of a CronJob in addition to the commands; nil for none
}

// Reason says in one word why a decision was made. The values are documented constants of package reconciler.
type Reason string

// Commands returns the decision's commands in order. The index of a command in the slice is CommandID.Place.
func (d *Decision) Commands() []Command {
	var all []Command
	for _, s := range d.Steps {
		all = append(all, s.Commands...)
	}
	return all
}

// CommandID names a command by the record that decided it and its index there.
type CommandID struct {
	Decided Sequence
	Place   uint32
}

// StatusChange is the difference between two statuses. Nil and zero fields do not change.
type StatusChange struct {
	Active, Ready, Terminating *int32
	Succeeded, Failed          *int32
	AddSucceeded, AddFailed    []types.UID // appended to status.uncountedTerminatedPods, in order
	Counted                    []types.UID // moved from uncountedTerminatedPods to the counters
	CompleteIndexes            string      // added to completedIndexes, in the API's text form
	FailIndexes                string      // added to failedIndexes
	TrimTo                     *int32      // indexes from this one on are removed from both
	SetFailedIndexes           bool        // failedIndexes is present after the write, even if empty
	ClearFailedIndexes         bool        // failedIndexes is absent after the write
	InitUncounted              bool        // uncountedTerminatedPods is present after the write
	StartTime, CompletionTime  Time
	ClearStartTime             bool
	Conditions                 []JobCondition // set by type; messages are evidence
}

// Ending says how a command ended.
type Ending uint8

// The endings. A command without one is in flight: decided, and not ended.
const (
	Done    Ending = 1 // the server confirmed it
	Refused Ending = 2 // the server refused it; nothing happened
	// No answer came (time-out, lost connection, crash): the command may have been carried out
	OutcomeUnknown Ending = 3
	Withdrawn      Ending = 4 // the executor returned it unsent
)

// String returns the ending in words for people.
func (e Ending) String() string {
	switch e {
	case Done:
		return "done"
	case Refused:
		return "refused"
	case OutcomeUnknown:
		return "unknown"
	case Withdrawn:
		return "withdrawn"
	}
	return "in flight"
}

// RefusalClass groups the refusals of the API server by what helps against them.
type RefusalClass uint8

// The classes of refusals.
const (
	RefusedConflict             RefusalClass = 1  // the object changed meanwhile
	RefusedNotFound             RefusalClass = 2  // the object is gone
	RefusedNameTaken            RefusalClass = 3  // another object has the name
	RefusedInvalid              RefusalClass = 4  // validation failed
	RefusedForbidden            RefusalClass = 5  // rights or an admission policy forbid it
	RefusedQuota                RefusalClass = 6  // a quota is used up
	RefusedNamespaceTerminating RefusalClass = 7  // the namespace is being deleted
	RefusedTooManyRequests      RefusalClass = 8  // the server is overloaded and asks to wait
	RefusedServer               RefusalClass = 9  // the server failed, and said so before it did anything
	RefusedTemplate             RefusalClass = 10 // the Job no longer has the template that the decision used
)

var refusalNames = [...]string{
	"", "Conflict", "NotFound", "NameTaken", "Invalid", "Forbidden", "Quota", "NamespaceTerminating",
	"TooManyRequests", "Server", "Template",
}

// String returns the name of the class.
func (c RefusalClass) String() string {
	if int(c) < len(refusalNames) {
		return refusalNames[c]
	}
	return "Unknown"
}

// Passing reports whether the same command may succeed later. It is true for class 0, which stands for a try that was
// not refused.
func (c RefusalClass) Passing() bool {
	return c != RefusedNotFound && c != RefusedNameTaken && c != RefusedTemplate
}

// CommandEnded records the outcome of a command. The server's message is evidence, which no decision reads.
type CommandEnded struct {
	Command    CommandID
	Ending     Ending
	UID        types.UID // of the object, when done
	Version    uint64    // of the object, when done
	Class      RefusalClass
	RetryAfter time.Duration // from the server's answer
	Sent       bool          // the request may have reached the API server
	Over       bool          // for OutcomeUnknown: the API server answered, so it no longer works on the request
	Written    Time          // when the server stored the object, by its clock, in seconds; 0 if unknown

	// The fields below repeat the command and its target, so that a reader need not look them up.
	Type    CommandKind
	Ordinal uint64    // ordinal of the pod to create or look for; 0 for other types
	Pod     types.UID // the pod to change; empty for other types
	// Run is the Job of a CronJob to delete or read; empty when its UID is unknown, and for other types. Due is the due
	// time of a Job to create. Replacing is copied from the command. Evidence.Name is the name of the Job.
	Run       types.UID `json:",omitempty"`
	Due       Time      `json:",omitempty"`
	Replacing bool      `json:",omitempty"`
}

// Ended returns the record of the task's end. It fills in what is known of the command before it is carried out.
func (t *Task) Ended(how Ending) CommandEnded {
	ordinal, _ := OrdinalOf(t.Command)
	run := runOf(t.Command)
	return CommandEnded{
		Command: t.Name, Ending: how, Type: t.Command.Traits().Kind, Ordinal: ordinal, Pod: PodOf(t.Command),
		Run: run.uid, Due: run.due, Replacing: run.replacing,
	}
}

func (*Decision) facts() factType     { return factDecision }
func (*CommandEnded) facts() factType { return factCommandEnded }

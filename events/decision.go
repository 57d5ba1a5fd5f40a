package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Decision has the steps that one turn decided for one Job or CronJob. A decision without steps is not written.
type Decision struct {
	Steps        []Step
	RulesVersion uint32
}

// Step is the outcome of one rule: the commands it asks for and why. Sentence is evidence.
type Step struct {
	Stage, Rule string
	Reason      Reason
	Sentence    string
	Commands    []Command
	Cron        *CronStep `json:",omitempty"` // what it says of a CronJob beside its commands; nil for nothing
}

// Reason is one of the documented constants of package reconciler.
type Reason string

// Commands are the decision's commands in their order: the place of each in the slice is the place in its name.
func (d *Decision) Commands() []Command {
	var all []Command
	for _, s := range d.Steps {
		all = append(all, s.Commands...)
	}
	return all
}

// CommandID names a command: the record that decided it and its place there.
type CommandID struct {
	Decided Sequence
	Place   uint32
}

// StatusChange is the difference between two statuses. Nil and zero fields do not change.
type StatusChange struct {
	Active, Ready, Terminating *int32
	Succeeded, Failed          *int32
	AddSucceeded, AddFailed    []types.UID // join the uncounted lists, in order
	Counted                    []types.UID // leave the uncounted lists for the counters
	CompleteIndexes            string      // join the completed set; the API's text form
	FailIndexes                string      // join the failed set
	TrimTo                     *int32      // indexes from here on leave both sets
	SetFailedIndexes           bool        // the failed set is present from now on, be it empty
	ClearFailedIndexes         bool        // it is absent from now on
	InitUncounted              bool        // the object of uncounted pods appears
	StartTime, CompletionTime  Time
	ClearStartTime             bool
	Conditions                 []JobCondition // set by type; messages are evidence
}

// Ending is how a command ended.
type Ending uint8

// The endings. A command that has none is in flight.
const (
	Done           Ending = 1 // the server confirmed it
	Refused        Ending = 2 // the server refused it; nothing happened
	OutcomeUnknown Ending = 3 // outcome unknown: a time-out, a lost connection, a crash
	Withdrawn      Ending = 4 // the executor gave it back unsent
)

// String is the ending as people read it.
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

// RefusalClass groups refusals by what helps against them.
type RefusalClass uint8

// The classes of refusals.
const (
	RefusedConflict             RefusalClass = 1  // the object changed meanwhile
	RefusedNotFound             RefusalClass = 2  // the object is gone
	RefusedNameTaken            RefusalClass = 3  // another object has the name
	RefusedInvalid              RefusalClass = 4  // the server found the object invalid
	RefusedForbidden            RefusalClass = 5  // not allowed: rights or policy
	RefusedQuota                RefusalClass = 6  // a quota is used up
	RefusedNamespaceTerminating RefusalClass = 7  // the namespace is being deleted
	RefusedTooManyRequests      RefusalClass = 8  // the server asks for patience
	RefusedServer               RefusalClass = 9  // the server failed, and said so before doing anything
	RefusedTemplate             RefusalClass = 10 // the template that was decided on is no longer the Job's
)

var refusalNames = [...]string{
	"", "Conflict", "NotFound", "NameTaken", "Invalid", "Forbidden", "Quota", "NamespaceTerminating",
	"TooManyRequests", "Server", "Template",
}

// String is the class as people read it.
func (c RefusalClass) String() string {
	if int(c) < len(refusalNames) {
		return refusalNames[c]
	}
	return "Unknown"
}

// Passing reports whether a command that was refused for this reason may be accepted as it is another time. It is true
// of 0, the class of a try that was not refused.
func (c RefusalClass) Passing() bool {
	return c != RefusedNotFound && c != RefusedNameTaken && c != RefusedTemplate
}

// CommandEnded is how a command ended. The server's words are evidence.
type CommandEnded struct {
	Command    CommandID
	Ending     Ending
	UID        types.UID // of the object, when done
	Version    uint64    // of the object, when done
	Class      RefusalClass
	RetryAfter time.Duration // the server's wish
	Sent       bool          // the request may have reached the server
	Over       bool          // of unknown end: the API server answered, so it works on the request no longer
	Written    Time          // when the server stored it, by its clock, in whole seconds; 0 where it is not known or not asked for

	// What the command was, and for whom.
	Type    CommandKind
	Ordinal uint64    // of the pod that was to be created or looked for; 0 for other types
	Pod     types.UID // that was to be changed; empty for other types
	// Run is the Job of a CronJob that was to be deleted or read; empty where it was not known, and for other types. Due
	// is the instant for which one was to be created, Replacing as in the command. Evidence.Name is the name of the Job.
	Run       types.UID `json:",omitempty"`
	Due       Time      `json:",omitempty"`
	Replacing bool      `json:",omitempty"`
}

// Ended gives the end of the task, with the fields that are known before it begins.
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

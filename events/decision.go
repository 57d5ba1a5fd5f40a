package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Decision is what was decided for one Job in one turn. A decision without commands is not written.
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

// CommandName names a command: the record that decided it and its place there.
type CommandName struct {
	Decided Sequence
	Place   uint32
}

// Command is an idempotent intention. The set is closed: the types below implement it.
type Command interface{ command() }

// CreatePod asks for a pod. Its name follows from the log's ID and epoch, the Job's UID and Ordinal; see PodName.
type CreatePod struct {
	Ordinal  uint64 // the Job's own count of creates, from 1
	Index    int32  // completion index, or NoIndex
	Template string // hash of the pod template to use

	IndexFailures, IndexIgnoredFailures uint32

	Again   bool // it was sent before, and nobody knows what came of it
	InGroup bool // it names the Job's PodGroup
}

// DeletePod asks for a deletion with the UID as precondition.
type DeletePod struct{ Pod types.UID }

// DropFinalizer asks that the tracking finalizer be removed from a pod.
type DropFinalizer struct {
	Pod        types.UID
	ThenDelete bool // the pod is surplus: it is deleted once the finalizer is gone, and never counted (J-073)
	// Version that the pod must still have; 0 for any. A pod that nobody owns may be adopted meanwhile.
	Version uint64
}

// WriteStatus asks for a status write, as a change of the last confirmed stored status at version Base.
type WriteStatus struct {
	Base   uint64
	Change StatusChange
}

// AdoptPod asks that an ownerless pod become the Job's (J-175).
type AdoptPod struct {
	Pod     types.UID
	Version uint64 // that the pod must still have
	// Spent: the Job has accounted for the pod before. It gets no finalizer, so that nobody counts it again.
	Spent bool
	Mark  bool // the pod's annotation does not name the Job, and is to
}

// ReleasePod asks that a pod of the Job no longer be (J-174).
type ReleasePod struct {
	Pod     types.UID
	Version uint64 // that the pod must still have
}

// ReadJob asks for a live read of the Job. What is read arrives as an observation.
type ReadJob struct{}

// ReadPod asks for a live look for the pod of an ordinal by its name. What is found arrives as an observation.
type ReadPod struct {
	Ordinal uint64
	Index   int32
}

// FindGroup asks which Workload and PodGroup there are for the Job. What is found arrives as an observation.
type FindGroup struct{}

// CreateWorkload asks for the Workload that says that the Job's pods are a gang: none is scheduled before MinCount of them
// fit at the same time.
type CreateWorkload struct{ MinCount int32 }

// CreatePodGroup asks for the PodGroup of the Job's Workload, after the Workload's template.
type CreatePodGroup struct{}

// Withdraw ends a command that has not ended.
type Withdraw struct{ Command CommandName }

func (*CreatePod) command()      {}
func (*DeletePod) command()      {}
func (*DropFinalizer) command()  {}
func (*WriteStatus) command()    {}
func (*AdoptPod) command()       {}
func (*ReleasePod) command()     {}
func (*ReadJob) command()        {}
func (*ReadPod) command()        {}
func (*FindGroup) command()      {}
func (*CreateWorkload) command() {}
func (*CreatePodGroup) command() {}
func (*Withdraw) command()       {}

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
	Done      Ending = 1 // the server confirmed it
	Refused   Ending = 2 // the server refused it; nothing happened
	UnknownIf Ending = 3 // nobody knows: a time-out, a lost connection, a crash
	Withdrawn Ending = 4 // the executor gave it back unsent
)

// String is the ending as people read it.
func (e Ending) String() string {
	switch e {
	case Done:
		return "done"
	case Refused:
		return "refused"
	case UnknownIf:
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

// CommandEnded is how a command ended. The server's words are evidence.
type CommandEnded struct {
	Command    CommandName
	Ending     Ending
	UID        types.UID // of the object, when done
	Version    uint64    // of the object, when done
	Class      RefusalClass
	RetryAfter time.Duration // the server's wish
	Sent       bool          // the request may have reached the server
	Over       bool          // of unknown end: the API server answered, so it works on the request no longer
	Written    Time          // when the server stored it, by its clock, in whole seconds; 0 where it is not known or not asked for
}

func (*Decision) facts()     {}
func (*CommandEnded) facts() {}

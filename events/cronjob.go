package events

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// CronJobSeen has the fields of a CronJob object that decisions read.
type CronJobSeen struct {
	Version                   uint64 // resourceVersion
	Generation                int64
	Created                   Time
	Deleted                   Time // deletionTimestamp; 0 when it is not being deleted
	Schedule                  string
	TimeZone                  *string // nil for unset
	Policy                    string  // concurrencyPolicy
	Suspend                   bool
	Deadline                  *int64 // startingDeadlineSeconds; nil for unset
	KeepSucceeded, KeepFailed *int32 // the history limits; nil for unset
	Template                  string // hash of the whole jobTemplate, made with the log's secret key
	Redacted                  string // hash of the jobTemplate without secret values: the Hash of a JobTemplate record
	// Zones are the time zones that the schedule and spec.timeZone name (schedule.Named), as far as their rules are
	// known.
	Zones []ZoneName
	// Active, LastSchedule and LastSuccess are the status. Its times have a resolution of one second.
	Active                    []RunName
	LastSchedule, LastSuccess Time
	Trigger                   *RunTrigger // from the annotation jobledger.dev/trigger; nil for none
	// The CronJob already was like this when a controller began to watch, so the time of the change is unknown
	Found bool
}

// ZoneName identifies the rules of a time zone: Hash tells apart the rules that two databases have under one Name.
type ZoneName struct{ Name, Hash string }

// RunName names a Job of a CronJob, in the CronJob's list of active Jobs.
type RunName struct {
	UID     types.UID
	Name    string
	Version uint64 // the Job's resourceVersion when it entered the list
}

// WithoutRuns returns a copy of list without the Jobs whose UIDs are in without.
func WithoutRuns(list []RunName, without []types.UID) []RunName {
	gone := make(map[types.UID]bool, len(without))
	for _, uid := range without {
		gone[uid] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(r RunName) bool { return gone[r.UID] })
}

// RunTrigger is a user's request, by an annotation, that the CronJob start a Job now.
type RunTrigger struct {
	Value string // value of the annotation; each value is carried out once
	Asked Time   // when it was asked, by the requester's clock
	By    string // the requester, in the requester's own words
}

// CronJobGone records that the CronJob was deleted, or (Missed) was absent from a complete list.
type CronJobGone struct {
	Version uint64
	Missed  bool
}

// ZoneRules holds the rules of a time zone. Each version of them is stored once per file of the log.
type ZoneRules struct {
	Name, Hash string
	TZif       []byte // in the format of RFC 9636
}

// RunSeen is an observation of a Job whose controller, by UID, is a CronJob (C-101). It is recorded in the stream of
// that CronJob.
type RunSeen struct {
	Job                types.UID
	Name               string
	Version            uint64
	Created, Deleted   Time
	Started, Completed Time      // status.startTime and completionTime
	Result             JobResult // from the first finished condition in the list (C-102)
	Succeeded          bool      // any condition of the list is Complete
	Due                Time      // the due time in its annotation (C-154); 0 when there is none that parses
	Manual             bool      // annotation cronjob.kubernetes.io/instantiate is "manual" (C-223)
	By                 string    // the field manager that created the Job, if Manual
	// Namespace is the Job's namespace as long as the CronJob has not been seen, and empty afterwards. A Job in another
	// namespace does not belong to the CronJob (C-101).
	Namespace string `json:",omitempty"`
}

// RunGone records that a Job of a CronJob was deleted, was absent from a complete list (Missed), or exists with another
// owner or none (Left). It is in the stream of the CronJob. With Other, the Job never belonged to the CronJob: it had
// the name of a Job that the CronJob may have been waiting to create (C-165).
type RunGone struct {
	Job          types.UID
	Version      uint64
	Missed, Left bool
	Other        bool `json:",omitempty"`
}

// CronStep holds what a step of a decision changes in a CronJob's state, in addition to its commands.
type CronStep struct {
	Ticks   []Tick      // due times and what became of them, in order
	Ledger  *TickLedger // the ledger after the step; nil when it does not change
	Left    []types.UID // Jobs that leave the list of active ones
	Notices []Notice    // Kubernetes Events about the CronJob
	Trigger string      // value of the trigger annotation that this step has handled
}

// TickFate says what became of a due time of a CronJob. The numbers are the same as in package ticks and never change.
type TickFate uint8

// The values: what became of a due time.
const (
	TickStarted TickFate = 1 // a Job was created for it
	TickMerged  TickFate = 2 // a later due time came before this one could start; one run serves both (C-081)
	TickTooLate TickFate = 3 // spec.startingDeadlineSeconds passed before it could start (C-083)
	// Another object has the Job's name, or the Job can never be created (C-160). Name is set if the other object is
	// the CronJob's own Job of another due time (C-152)
	TickRefused TickFate = 4
	TickLost    TickFate = 5 // the built-in controller's estimate skips it (C-080)
	// No controller watched when it was due, and a later due time had come when one watched again
	TickUnwatched TickFate = 6
	TickDeleted   TickFate = 7 // the CronJob was deleted, or is being deleted
	TickReplaced  TickFate = 8 // the schedule was changed while it was still open
	// A Job was created although the due time already had a fate, or is from before a change of the schedule
	TickAgain     TickFate = 9
	TickManual    TickFate = 10 // no due time: a user created the Job by hand
	TickTriggered TickFate = 11 // no due time: a user asked for a run with the annotation
	// Another controller had not started it when a later one became due, or status.lastScheduleTime was set beyond it
	TickSkipped TickFate = 12
	// Another controller ran the CronJob, and no controller watched when it may have started the run
	TickUnknown TickFate = 13
)

// Tick says what became of one due time of a CronJob, or of all due times from First to Last. The number of due times
// in a range is not stored: it follows from the schedule and the zone in the TickLedger before this step.
type Tick struct {
	First, Last Time // equal for a single due time
	Fate        TickFate
	Into        Time          // of TickMerged: the later due time; of TickSkipped: the later one that was started
	Late        time.Duration // for fates with a Job: the delay from the due time to the Job's creation
	Job         types.UID     // the Job that was created for the due time
	Name        string        // name of that Job
	Zone        string        // hash of the time zone rules that gave the due time; empty for UTC
	By          string        // the user who created the Job by hand, or asked for it
	// Observed: another controller ran the CronJob. The fate was inferred from observations.
	Observed bool
	// For fates with a Job: the delay from the due time to the first observation of the Job; 0 when it was not seen
	Seen time.Duration
	// UnwatchedFrom and UnwatchedUntil bound the time without a watch, for TickUnknown. UnwatchedFrom is 0 when no
	// controller had ever watched before.
	UnwatchedFrom, UnwatchedUntil Time
}

// TickHold is the reason why an open due time does not start now. The numbers are the same as in package ticks and
// never change.
type TickHold uint8

// The reasons.
const (
	NotHeld       TickHold = 0 // nothing: the due time is about to start
	HeldForbid    TickHold = 1 // an earlier Job still runs and the policy is Forbid (C-144)
	HeldSuspended TickHold = 2 // spec.suspend is true (C-133)
	HeldBadZone   TickHold = 3 // the rules of spec.timeZone are unknown (C-132)
	HeldNoCreate  TickHold = 4 // the API server refused the Job; the create is tried again (C-163)
)

// TickLedger says up to which time it is decided what became of every due time of a CronJob, and which due time is
// open: it may still start.
type TickLedger struct {
	Through Time
	Open    Time // the open due time; 0 for none
	Hold    TickHold
	// Schedule, TimeZone and Zone define the due times after Through. Zone is the hash of the zone rules; empty for
	// UTC.
	Schedule string
	TimeZone *string
	Zone     string
	Closed   bool // the CronJob is deleted, or is being deleted: it has no further due times
}

// Notice is a Kubernetes Event about a CronJob, by its reason (C-200). No decision reads Message.
type Notice struct{ Reason, Message string }

func (*CronJobSeen) facts() factType { return factCronJobSeen }
func (*CronJobGone) facts() factType { return factCronJobGone }
func (*ZoneRules) facts() factType   { return factZoneRules }
func (*RunSeen) facts() factType     { return factRunSeen }
func (*RunGone) facts() factType     { return factRunGone }

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
	Template                  string // hash of the jobTemplate as it is, by the log's key
	Redacted                  string // hash of the redacted one, which a JobTemplate names
	// Zones are those that the CronJob names (schedule.Named) and whose rules are known.
	Zones []ZoneName
	// Active, LastSchedule and LastSuccess are the status; its times count in whole seconds.
	Active                    []RunName
	LastSchedule, LastSuccess Time
	Trigger                   *RunTrigger // of the annotation jobledger.dev/trigger; nil for none
	Found                     bool        // it was so when a controller began to watch: nobody saw it change
}

// ZoneName names the rules of a time zone: one name has other rules in another database.
type ZoneName struct{ Name, Hash string }

// RunName names a Job of a CronJob, as its list of active Jobs does.
type RunName struct {
	UID     types.UID
	Name    string
	Version uint64 // resourceVersion when it was put into the list
}

// WithoutRuns is a list of Jobs without some of them. The list itself stays as it is.
func WithoutRuns(list []RunName, without []types.UID) []RunName {
	gone := make(map[types.UID]bool, len(without))
	for _, uid := range without {
		gone[uid] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(r RunName) bool { return gone[r.UID] })
}

// RunTrigger asks for a run now.
type RunTrigger struct {
	Value string // of the annotation: each is carried out once
	Asked Time   // by the clock of who asked
	By    string // who that was, in his own words
}

// CronJobGone says that the CronJob object was deleted, or (Missed) was absent from a complete list.
type CronJobGone struct {
	Version uint64
	Missed  bool
}

// ZoneRules are the rules of a time zone, once per content and file.
type ZoneRules struct {
	Name, Hash string
	TZif       []byte // RFC 9636
}

// RunSeen says, in the stream of a CronJob, that a Job of it was seen: one whose controller it is, by UID (C-101).
type RunSeen struct {
	Job                types.UID
	Name               string
	Version            uint64
	Created, Deleted   Time
	Started, Completed Time      // status.startTime and completionTime
	Result             JobResult // of the first condition in the list that says that it finished (C-102)
	Succeeded          bool      // some condition says Complete
	Due                Time      // in the annotation of its due time (C-154); 0 for none that parses
	Manual             bool      // annotation cronjob.kubernetes.io/instantiate is "manual" (C-223)
	By                 string    // the field manager that made it, of one that is Manual
	// Namespace is that of the Job, while the CronJob has not been seen: one in another namespace is not its own (C-101).
	// Empty afterwards.
	Namespace string `json:",omitempty"`
}

// RunGone says, in the stream of a CronJob, that a Job of it was deleted, or (Missed) was absent from a complete list,
// or (Left) exists and is the CronJob's no longer.
type RunGone struct {
	Job          types.UID
	Version      uint64
	Missed, Left bool
}

// CronStep has the changes that a step makes to a CronJob besides its commands.
type CronStep struct {
	Ticks   []Tick      // due times and their fates, in order
	Ledger  *TickLedger // how the ledger stands after the step; nil when it does not change
	Left    []types.UID // Jobs that leave the list of active ones
	Notices []Notice    // Kubernetes Events about the CronJob
	Trigger string      // value of the annotation that this step has dealt with
}

// TickFate says what became of a due time. The numbers are the ones of package ticks, and never change.
type TickFate uint8

// The fates.
const (
	TickStarted   TickFate = 1  // a Job was made for it
	TickMerged    TickFate = 2  // a later one became due before it could start, and runs for both (C-081)
	TickTooLate   TickFate = 3  // spec.startingDeadlineSeconds was over before it could start (C-083)
	TickRefused   TickFate = 4  // the API server has another object in its place, or it can never be made (C-160); Name is that of a Job of another due time (C-152)
	TickLost      TickFate = 5  // the built-in's estimate passed over it (C-080)
	TickUnwatched TickFate = 6  // no controller watched when it was due, and a later one was due when one watched again
	TickDeleted   TickFate = 7  // the CronJob was deleted, or is being deleted
	TickReplaced  TickFate = 8  // the schedule was changed while it was open
	TickAgain     TickFate = 9  // it had its fate, or is of before the schedule was changed, and a Job was made nevertheless
	TickManual    TickFate = 10 // it was never due: somebody made the Job by hand
	TickTriggered TickFate = 11 // it was never due: somebody asked for a run, with the annotation
	TickSkipped   TickFate = 12 // another controller did not start it before a later one was due, or somebody set status.lastScheduleTime beyond it
	TickUnknown   TickFate = 13 // another controller ran the CronJob, and nobody watched when it may have started it
)

// Tick is the fate of one due time, or of all that follow one another in a range: who reads it counts them by the
// schedule and the zone of the ledger of before.
type Tick struct {
	First, Last Time // the same for one
	Fate        TickFate
	Into        Time          // of TickMerged: the later one; of TickSkipped: the later one that was started
	Late        time.Duration // of those with a Job: how long after it was due
	Job         types.UID     // that was made for it
	Name        string        // of that Job
	Zone        string        // hash of the rules by which it was due; empty for UTC
	By          string        // who made the Job by hand, or asked for it
	// Observed: another controller ran the CronJob. What became of the due time was found from what was seen.
	Observed bool
	Seen     time.Duration // of one with a Job: how long after it was due the Job was seen first; 0 when it was not seen
	// UnwatchedFrom and UnwatchedUntil, of TickUnknown: nobody watched then; from 0 when nobody ever had.
	UnwatchedFrom, UnwatchedUntil Time
}

// TickHold says why a due time is still open. The numbers are the ones of package ticks, and never change.
type TickHold uint8

// What may hold a due time back.
const (
	NotHeld       TickHold = 0 // it is about to start
	HeldForbid    TickHold = 1 // a Job of before runs (C-144)
	HeldSuspended TickHold = 2 // spec.suspend (C-133)
	HeldBadZone   TickHold = 3 // spec.timeZone has no rules (C-132)
	HeldNoCreate  TickHold = 4 // the API server refuses the Job, and it is tried again (C-163)
)

// TickLedger says through which instant each due time has its fate, and which one is open.
type TickLedger struct {
	Through Time
	Open    Time // 0 for none
	Hold    TickHold
	// Schedule, TimeZone and Zone are those by which due times are counted from Through on. Zone is the hash of the rules;
	// empty for UTC.
	Schedule string
	TimeZone *string
	Zone     string
	Closed   bool // the CronJob is deleted, or is being deleted: there are no more due times
}

// Notice is a Kubernetes Event about a CronJob, by its reason (C-200). Message is evidence.
type Notice struct{ Reason, Message string }

func (*CronJobSeen) facts() factType { return factCronJobSeen }
func (*CronJobGone) facts() factType { return factCronJobGone }
func (*ZoneRules) facts() factType   { return factZoneRules }
func (*RunSeen) facts() factType     { return factRunSeen }
func (*RunGone) facts() factType     { return factRunGone }

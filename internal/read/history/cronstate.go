package history

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/projector"
)

// CronState is the state of a CronJob in one word.
type CronState string

// The states of a CronJob.
const (
	CronUnseen    CronState = "Unseen"    // known only from Jobs that it owns, or from its Job template
	CronInvalid   CronState = "Invalid"   // its schedule or time zone cannot be parsed: it is never due
	CronSuspended CronState = "Suspended" // spec.suspend is set
	CronHeld      CronState = "Held"      // it is due, and the start is held back, for example by concurrencyPolicy
	CronOverdue   CronState = "Overdue"   // a due time has passed without a start, for no known reason
	CronRunning   CronState = "Running"   // one of its Jobs runs
	CronWaiting   CronState = "Waiting"   // none of its Jobs runs: it waits for its next due time
	CronDeleting  CronState = "Deleting"
	CronDeleted   CronState = "Deleted" // its object is gone
)

// removed reports whether the CronJob's object is gone: the watch reported the deletion, or a read did not find the
// object.
func (a *CronAccount) removed() bool { return a.Deleted != 0 || a.job != nil && a.job.Gone }

// CronStates lists all states.
var CronStates = []CronState{
	CronUnseen, CronInvalid, CronSuspended, CronHeld, CronOverdue, CronRunning, CronWaiting, CronDeleting, CronDeleted,
}

// cronStateOf returns the state of a CronJob, and a reason if the state alone does not tell enough.
func cronStateOf(a *CronAccount) (state CronState, reason string) {
	c := a.job
	switch {
	case a.removed():
		return CronDeleted, ""
	case !c.Known():
		return CronUnseen, ""
	case c.Seen.Deleted != 0:
		return CronDeleting, ""
	}
	if err := Unreadable(&c.Seen); err != nil {
		return CronInvalid, err.Error()
	}
	switch l := &c.Ledger; {
	case c.Seen.Suspend:
		return CronSuspended, ""
	case l.Open != 0 && !l.Closed && l.Hold != events.NotHeld && !c.Observed():
		return CronHeld, words.HoldText(l.Hold)
	case running(c) > 0:
		return CronRunning, ""
	}
	return CronWaiting, ""
}

// running returns the number of running Jobs: the unfinished Jobs in status.active, and other running Jobs, such as
// those that a user created.
func running(c *projector.CronJob) (n int) {
	for _, a := range c.Active {
		if r := c.Runs[a.UID]; r == nil || !r.Finished() {
			n++
		}
	}
	for uid, r := range c.Runs {
		if runState(r) == StateRunning && !c.IsActive(uid) {
			n++
		}
	}
	return n
}

// Unreadable returns an error that says why a CronJob is never due: its schedule cannot be parsed, or the log lacks the
// rules of its time zone. It returns nil if both are fine.
func Unreadable(seen *events.CronJobSeen) error {
	rules := func(name string) (*time.Location, error) {
		for _, z := range seen.Zones {
			if z.Name == name {
				return time.UTC, nil // any time zone will do: only the error matters
			}
		}
		return nil, schedule.UnknownZone(name)
	}
	var zone *time.Location
	if seen.TimeZone != nil {
		var err error
		if zone, err = schedule.Locate(*seen.TimeZone, rules); err != nil {
			return err
		}
	}
	_, err := schedule.Parse(seen.Schedule, zone, rules)
	return err
}

// CronSummary is one line of `jobledger get cronjobs`. Its JSON changes only by adding fields.
type CronSummary struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       string    `json:"uid"`
	State     CronState `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	Gone      bool      `json:"gone,omitempty"` // the object was deleted
	Managed   bool      `json:"managed"`        // Jobledger creates its Jobs; if false, another controller does

	Schedule string  `json:"schedule,omitempty"`
	TimeZone *string `json:"timeZone,omitempty"` // spec.timeZone
	Suspend  bool    `json:"suspend,omitempty"`
	Active   int     `json:"active"` // number of its running Jobs, including those that a user created

	Created      recordjson.Instant `json:"created,omitzero"`
	LastSchedule recordjson.Instant `json:"lastScheduleTime,omitzero"`
	LastSuccess  recordjson.Instant `json:"lastSuccessfulTime,omitzero"`
	LastDue      *Tick              `json:"lastDue,omitempty"` // newest due time with an outcome
	LastRun      string             `json:"lastRun,omitempty"` // how its newest existing Job ended: Complete or Failed
	Due          *OpenDue           `json:"due,omitempty"`     // due time without an outcome: not started, not skipped
	// Next is the next due time; absent if there is none, for example while suspended.
	Next recordjson.Instant `json:"next,omitzero"`

	First uint64 `json:"first,omitempty"`
	Last  uint64 `json:"last"`

	// DueThrough is the time up to which every due time is settled: it has an outcome, or can no longer start. If
	// Jobledger runs the CronJob and a due time has no outcome yet, DueThrough is that due time.
	DueThrough recordjson.Instant `json:"dueThrough,omitzero"`
	// DueAfter is the newest due time that started, if lastScheduleTime does not show it yet. The next due time is
	// later.
	DueAfter recordjson.Instant `json:"dueAfter,omitzero"`
	// Hold says why the controller of the CronJob does not start it now, by the newest record. It is only for a
	// controller other than Jobledger.
	Hold     string `json:"hold,omitempty"`
	Deadline *int64 `json:"startingDeadlineSeconds,omitempty"`

	// ZoneHash identifies the time zone rules from which Next follows; empty for UTC.
	ZoneHash string `json:"zoneRules,omitempty"`
}

// CronSummaryOf returns the summary of the CronJob with account a. Next, the next due time, is not set.
func CronSummaryOf(a *CronAccount) CronSummary {
	if a.summary != nil {
		s := *a.summary
		s.Last, s.Gone = uint64(a.Last), s.Gone || a.removed()
		if s.Gone {
			s.State, s.Reason = CronDeleted, ""
		}
		return s
	}
	s := CronSummary{UID: a.Stream.ID, State: CronUnseen, First: uint64(a.First), Last: uint64(a.Last)}
	c := a.job
	if c == nil {
		return s
	}
	s.Namespace, s.Name = c.Ref.Namespace, c.Ref.Name
	s.State, s.Reason = cronStateOf(a)
	s.Gone, s.Managed = a.removed(), !c.Observed()
	s.Schedule, s.TimeZone, s.Suspend, s.Active = c.Seen.Schedule, c.Seen.TimeZone, c.Seen.Suspend, running(c)
	s.Created = recordjson.Instant(c.Seen.Created)
	s.LastSchedule, s.LastSuccess = recordjson.Instant(c.LastSchedule), recordjson.Instant(c.LastSuccess)
	s.LastDue, s.Due, s.LastRun = a.lastDue(), openOf(&c.Ledger, c.Told.Held), lastResult(c)
	s.ZoneHash, s.Deadline = zoneHash(&c.Seen), c.Seen.Deadline
	if !c.Ledger.Closed && c.Settings.CronJobs {
		s.DueThrough = recordjson.Instant(c.DueThrough())
	}
	if after := c.DueAfter(); after > c.Anchor() {
		s.DueAfter = recordjson.Instant(after)
	}
	if c.Observed() {
		s.Hold = c.Kept().String()
	}
	return s
}

// lastResult returns how the newest ended Job of the CronJob ended; empty if none has.
func lastResult(c *projector.CronJob) string {
	var newest *cronjob.Run
	for _, r := range c.SortedRuns() {
		if r.Finished() && (newest == nil || r.Created >= newest.Created) {
			newest = r
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Result.String()
}

// zoneHash returns the hash of the time zone rules that apply: a zone in the schedule (CRON_TZ=) overrides
// spec.timeZone (C-041).
func zoneHash(seen *events.CronJobSeen) string {
	of := seen.TimeZone
	if schedule.NamesZone(seen.Schedule) {
		of = nil
	}
	for _, name := range schedule.Named(seen.Schedule, of) {
		for _, z := range seen.Zones {
			if z.Name == name {
				return z.Hash
			}
		}
	}
	return ""
}

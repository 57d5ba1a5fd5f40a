package history

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/projector"
)

// CronState is a CronJob's state in one word.
type CronState string

// The states.
const (
	CronUnseen    CronState = "Unseen"    // the log knows the CronJob only from Jobs that name it, or has the template of its Jobs alone so far
	CronInvalid   CronState = "Invalid"   // its schedule or its time zone cannot be read: it is never due
	CronSuspended CronState = "Suspended" //
	CronHeld      CronState = "Held"      // it is due, and something holds that back
	CronOverdue   CronState = "Overdue"   // it was due, and did not start, and nothing is known that holds it back
	CronRunning   CronState = "Running"   // a Job of it runs
	CronWaiting   CronState = "Waiting"   // none of its Jobs runs: it waits for its next due time
	CronDeleting  CronState = "Deleting"
	CronDeleted   CronState = "Deleted" // its object is gone
)

// CronStates are all of them.
var CronStates = []CronState{
	CronUnseen, CronInvalid, CronSuspended, CronHeld, CronOverdue, CronRunning, CronWaiting, CronDeleting, CronDeleted,
}

// cronStateOf is the state, and why it is so where that is not plain.
func cronStateOf(a *CronAccount) (state CronState, reason string) {
	c := a.job
	switch {
	case a.Deleted != 0 || c.Gone:
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

// running is how many of its Jobs run: those of its list of active Jobs, and those that it has and that list has not,
// as of Jobs made by hand.
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

// Unreadable says why a CronJob is never due: its schedule cannot be read, or the rules of its zone are not known; nil
// when it is.
func Unreadable(seen *events.CronJobSeen) error {
	rules := func(name string) (*time.Location, error) {
		for _, z := range seen.Zones {
			if z.Name == name {
				return time.UTC, nil // any will do
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

// CronSummary is one line of `get cronjobs`. Its JSON changes only by growing.
type CronSummary struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       string    `json:"uid"`
	State     CronState `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	Gone      bool      `json:"gone,omitempty"` // its object was deleted
	Managed   bool      `json:"managed"`        // its Jobs are made here; another controller makes them else

	Schedule string  `json:"schedule,omitempty"`
	TimeZone *string `json:"timeZone,omitempty"` // of spec.timeZone
	Suspend  bool    `json:"suspend,omitempty"`
	Active   int     `json:"active"` // its Jobs that run, those made by hand included

	Created      recordjson.Instant `json:"created,omitzero"`
	LastSchedule recordjson.Instant `json:"lastScheduleTime,omitzero"`
	LastSuccess  recordjson.Instant `json:"lastSuccessfulTime,omitzero"`
	LastDue      *Tick              `json:"lastDue,omitempty"` // the newest due time that has its fate
	LastRun      string             `json:"lastRun,omitempty"` // how the newest of its Jobs that are kept ended: Complete or Failed
	Due          *OpenDue           `json:"due,omitempty"`     // the due time that has none yet
	Next         recordjson.Instant `json:"next,omitzero"`     // when it is due next; left out where it is not, as while it is suspended

	First uint64 `json:"first,omitempty"`
	Last  uint64 `json:"last"`

	// DueThrough is the instant through which its due times have fates, or may not start any more; that of the open one,
	// where we run it.
	DueThrough recordjson.Instant `json:"dueThrough,omitzero"`
	// DueAfter is the newest due time that has started, where lastScheduleTime does not say so yet: it is due next after
	// that.
	DueAfter recordjson.Instant `json:"dueAfter,omitzero"`
	Hold     string             `json:"hold,omitempty"` // of one that another controller runs: what holds the next start back, by the newest record
	Deadline *int64             `json:"startingDeadlineSeconds,omitempty"`

	// ZoneHash is that of the rules by which it is due next; empty for UTC.
	ZoneHash string `json:"zoneRules,omitempty"`
}

// CronSummaryOf is the summary of an account, but for when it is due next.
func CronSummaryOf(a *CronAccount) CronSummary {
	if a.summary != nil {
		s := *a.summary
		s.Last, s.Gone = uint64(a.Last), a.Deleted != 0
		return s
	}
	s := CronSummary{UID: a.Stream.ID, State: CronUnseen, First: uint64(a.First), Last: uint64(a.Last)}
	c := a.job
	if c == nil {
		return s
	}
	s.Namespace, s.Name = c.Ref.Namespace, c.Ref.Name
	s.State, s.Reason = cronStateOf(a)
	s.Gone, s.Managed = a.Deleted != 0, !c.Observed()
	s.Schedule, s.TimeZone, s.Suspend, s.Active = c.Seen.Schedule, c.Seen.TimeZone, c.Seen.Suspend, running(c)
	s.Created = recordjson.Instant(c.Seen.Created)
	s.LastSchedule, s.LastSuccess = recordjson.Instant(c.LastSchedule), recordjson.Instant(c.LastSuccess)
	s.LastDue, s.Due, s.LastRun = a.Tick, openOf(&c.Ledger, a.Held), lastResult(c)
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

// lastResult is how the newest of the Jobs that have ended did.
func lastResult(c *projector.CronJob) string {
	var newest *projector.Run
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

// zoneHash is that of the rules by which the CronJob is due: a zone in the schedule itself comes before spec.timeZone
// (C-041).
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

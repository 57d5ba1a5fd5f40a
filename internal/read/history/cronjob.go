package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/projector"
)

// CronJob is the answer of `jobledger get cronjob/NAME`: the state of a CronJob as of one record of the log. Its JSON
// changes only by adding fields. Times are RFC 3339 with nanoseconds, UTC. Unset and empty fields are absent.
type CronJob struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`

	AsOf Place `json:"asOf"` // the newest record that was read, which may be about another object
	// Clock says where the time of AsOf comes from: "controller" if it is the clock of the running controller, "log" if
	// it is the time of the newest record. It is absent for an answer about an earlier time.
	Clock string `json:"clock,omitempty"`
	// LastRecord is the time of the newest record of the log. It is set only if the time of AsOf is from the
	// controller's clock.
	LastRecord recordjson.Instant `json:"lastRecord,omitzero"`
	First      uint64             `json:"first,omitempty"` // first record of the CronJob; absent if it is pruned
	Last       uint64             `json:"last"`            // newest record of the CronJob

	State   CronState `json:"state"`
	Reason  string    `json:"reason,omitempty"` // why, if State alone does not tell
	Gone    bool      `json:"gone,omitempty"`   // the object was deleted
	Managed bool      `json:"managed"`          // Jobledger creates its Jobs; if false, another controller does
	Active  int       `json:"active"`           // number of its running Jobs, including those that a user created
	// PassedOver is set while the CronJob's namespace is over its log budget (how much log it may fill in an hour):
	// changes then have no record, so the state may be out of date.
	PassedOver []Passed `json:"passedOver,omitempty"`
	// Gap is set if nobody watched the cluster at the time asked for. The state is then the last one seen before the
	// gap.
	Gap     *Gap `json:"gap,omitempty"`
	Listing bool `json:"listing,omitempty"`

	Created recordjson.Instant `json:"created,omitzero"`
	Deleted recordjson.Instant `json:"deleted,omitzero"` // when its deletion was requested

	Spec      CronSpec           `json:"spec"`
	Published CronStatus         `json:"status"`            // newest status that the API server is known to have stored
	Due       *OpenDue           `json:"due,omitempty"`     // due time without an outcome: not started, not skipped
	LastDue   *Tick              `json:"lastDue,omitempty"` // newest due time with an outcome (started, skipped)
	Next      recordjson.Instant `json:"next,omitzero"`     // next due time; absent if none, as while suspended
	Zone      string             `json:"zone,omitempty"`    // time zone of the schedule
	Runs      []Run              `json:"runs,omitempty"`    // its existing Jobs, the newest first

	InFlight []Command `json:"inFlight,omitempty"`
	Waits    []Wait    `json:"waits,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	// Trouble has, for each sort of command, the newest failure if no such command succeeded since.
	Trouble      []Failure `json:"trouble,omitempty"`
	LastDecision *Decision `json:"lastDecision,omitempty"`

	zone *time.Location
}

// InPart reports whether the controller was just listing the cluster, so that the CronJob may have changed in ways that
// the log does not know yet. It is false for a CronJob that is gone.
func (j *CronJob) InPart() bool { return j.Listing && !j.Gone }

// Location returns the time zone of the schedule, by the zone rules that the log has. It returns nil for UTC, and if
// the log lacks the rules.
func (j *CronJob) Location() *time.Location { return j.zone }

// CronSpec is the spec of a CronJob without its Job template.
type CronSpec struct {
	Schedule      string  `json:"schedule"`
	TimeZone      *string `json:"timeZone,omitempty"`
	Policy        string  `json:"concurrencyPolicy,omitempty"`
	Suspend       bool    `json:"suspend,omitempty"`
	Deadline      *int64  `json:"startingDeadlineSeconds,omitempty"`
	KeepSucceeded *int32  `json:"successfulJobsHistoryLimit,omitempty"`
	KeepFailed    *int32  `json:"failedJobsHistoryLimit,omitempty"`
}

// CronStatus is the status of a CronJob.
type CronStatus struct {
	Active       []RunName          `json:"active,omitempty"`
	LastSchedule recordjson.Instant `json:"lastScheduleTime,omitzero"`
	LastSuccess  recordjson.Instant `json:"lastSuccessfulTime,omitzero"`
}

// RunName names a Job in status.active of a CronJob.
type RunName struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// Run is a Job that belongs to a CronJob.
type Run struct {
	Name  string `json:"name"`
	UID   string `json:"uid"`
	State State  `json:"state"` // Running, Complete, Failed or Deleting
	// Due is the due time for which the Job was created. It is unset for a Job that a user created or asked for.
	Due recordjson.Instant `json:"due,omitzero"`
	// Made is MadeByHand if a user created the Job, Triggered if a user asked Jobledger for it, and absent if the
	// schedule did.
	Made     string             `json:"made,omitempty"`
	By       string             `json:"by,omitempty"` // the user who created the Job or asked for it
	Created  recordjson.Instant `json:"created,omitzero"`
	Started  recordjson.Instant `json:"started,omitzero"`
	Finished recordjson.Instant `json:"finished,omitzero"`
}

// cronJobOf returns the state of the CronJob with account a, as of record asOf, at time now. The time decides which
// waits are over; it must not be before the newest record of the CronJob.
func cronJobOf(f *Fold, a *CronAccount, asOf events.Sequence, now events.Time) CronJob {
	v := CronJob{
		UID: a.Stream.ID, AsOf: Place{Sequence: uint64(asOf), Time: recordjson.Instant(now)}, First: uint64(a.First), Last: uint64(a.Last),
		Listing: f.World().Listing, State: CronUnseen,
	}
	c := a.job
	if c == nil {
		return v
	}
	v.Namespace, v.Name = c.Ref.Namespace, c.Ref.Name
	v.State, v.Reason = cronStateOf(a)
	v.Gone, v.Managed, v.Active = a.removed(), !c.Observed(), running(c)
	s := &c.Seen
	v.Created, v.Deleted = recordjson.Instant(s.Created), recordjson.Instant(s.Deleted)
	v.Spec = CronSpec{
		Schedule: s.Schedule, TimeZone: s.TimeZone, Policy: s.Policy, Suspend: s.Suspend, Deadline: s.Deadline,
		KeepSucceeded: s.KeepSucceeded, KeepFailed: s.KeepFailed,
	}
	v.Published = CronStatus{LastSchedule: recordjson.Instant(s.LastSchedule), LastSuccess: recordjson.Instant(s.LastSuccess)}
	for _, r := range s.Active {
		v.Published.Active = append(v.Published.Active, RunName{r.Name, string(r.UID)})
	}
	v.LastDue, v.Due, v.Runs = a.lastDue(), openOf(&c.Ledger, c.Told.Held), a.runs()
	if c.Sight.Observing || v.Gone {
		// A deleted CronJob has no open due time. For one that another controller runs, setNext computes the open due
		// time.
		v.Due = nil
	}
	if a.Rewound != 0 {
		v.Notes = []string{fmt.Sprintf(
			"the cluster was restored from a backup (record %d), and the CronJob has not been seen since: this is how it was before", a.Rewound)}
	} else if !v.Gone {
		v.InFlight, v.Waits = a.inFlight(), a.waits(c, now)
	}
	for _, t := range a.Trouble {
		if t != nil {
			v.Trouble = append(v.Trouble, *t)
		}
	}
	// If the newest decision is of an earlier epoch (life of the log), its number differs: then do not show it.
	if d := a.Decision; d != nil && d.Sequence == a.told.Decided {
		v.LastDecision = decisionOf(d, a.Stream, &a.names)
	}
	return v
}

// lastDue returns the newest due time that has an outcome (started, skipped). If the folded records tell none, it is
// that of the summary with which the fold began (a.due); nil if there was no summary.
func (a *CronAccount) lastDue() *Tick {
	if a.told == nil || a.told.DueAt == 0 {
		return a.due
	}
	t := TickOf(&a.told.Due, a.told.DueAt)
	return &t
}

// runs returns the CronJob's Jobs, the newest first.
func (a *CronAccount) runs() []Run {
	all := a.job.SortedRuns()
	slices.SortStableFunc(all, func(a, b *cronjob.Run) int { return cmp.Compare(b.Created, a.Created) })
	var out []Run
	for _, r := range all {
		v := Run{
			Name: r.Name, UID: string(r.Job), State: runState(r), Due: recordjson.Instant(r.Due), Created: recordjson.Instant(r.Created),
			Started: recordjson.Instant(r.Started), Finished: recordjson.Instant(r.Completed),
		}
		if r.Manual {
			v.Made, v.By = events.TickManual.String(), r.By
		}
		if r.Asked != 0 {
			v.Made, v.By = r.Asked.String(), r.AskedBy
		}
		if v.Made != "" {
			v.Due = 0
		}
		out = append(out, v)
	}
	return out
}

func runState(r *cronjob.Run) State {
	switch {
	case r.Result == events.ResultComplete:
		return StateComplete
	case r.Finished():
		return StateFailed
	case r.Deleting():
		return StateDeleting
	}
	return StateRunning
}

func (a *CronAccount) inFlight() []Command {
	var out []Command
	for _, f := range a.job.Flights() {
		out = append(out, Command{Command: recordjson.CommandText(f.Name()), Does: a.names.Phrase(a.Stream, f.Command), Since: recordjson.Instant(f.Since)})
	}
	if s := a.job.Start; s != nil && s.Stage == cronjob.StartUnknown {
		out = append(out, Command{Does: a.names.Phrase(a.Stream, &s.CreateJob), Doubt: true})
	}
	return out
}

// waits returns what the CronJob waits for at time now, apart from its next due time: the end of a backoff, or of
// startingDeadlineSeconds.
func (a *CronAccount) waits(c *projector.CronJob, now events.Time) []Wait {
	var out []Wait
	if r := c.Retry(); r.Until > now {
		w := Wait{For: "the next try: " + retried(*r), Until: recordjson.Instant(r.Until)}
		began := c.Told.Backoff
		out = append(out, w.since(Place{uint64(began.At), recordjson.Instant(began.Time)}))
	}
	if l := &c.Ledger; l.Open != 0 && !l.Closed && c.Seen.Deadline != nil {
		if late := l.Open.Add(deadline(*c.Seen.Deadline)); late > now {
			out = append(out, Wait{For: "the end of startingDeadlineSeconds: the due time is too late then", Until: recordjson.Instant(late)})
		}
	}
	return out
}

// decisionOf returns the decision in record r of the stream, in the form of an answer; nil if r is nil or has none.
// names writes object names into it.
func decisionOf(r *events.Record, stream events.Stream, names *words.Names) *Decision {
	if r == nil {
		return nil
	}
	d, ok := r.Facts.(*events.Decision)
	if !ok {
		return nil
	}
	v := &Decision{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}
	for _, s := range d.Steps {
		step := Step{Stage: s.Stage, Rule: s.Rule, Reason: string(s.Reason), Sentence: s.Sentence, Commands: []string{}}
		for _, c := range s.Commands {
			step.Commands = append(step.Commands, names.Phrase(stream, c))
		}
		v.Steps = append(v.Steps, step)
	}
	return v
}

package history

import (
	"encoding/json"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/projector"
)

// Job is what `get job/NAME` says: the projected state as of one record of the log. Its JSON changes only by growing.
// Times are RFC 3339 with nanoseconds, UTC; what is unset or empty is left out.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`

	AsOf Place `json:"asOf"` // the newest record that was looked at, of any stream
	// Clock says by what the time of AsOf is now: "controller" by that of the controller that writes the log, "log" by the
	// newest record, as no controller was asked. It is left out where another time was asked for.
	Clock      string             `json:"clock,omitempty"`
	LastRecord recordjson.Instant `json:"lastRecord,omitzero"` // beside the controller's clock: the time of the newest record of the log
	First      uint64             `json:"first,omitempty"`     // the Job's first record
	Last       uint64             `json:"last,omitempty"`      // its newest one
	Records    uint64             `json:"records"`             // how many it has
	Retired    uint64             `json:"retired,omitempty"`   // the record that closed its account

	State     State  `json:"state"`
	Reason    string `json:"reason,omitempty"`  // of the state, as its condition says
	Message   string `json:"message,omitempty"` // likewise
	Gone      bool   `json:"gone,omitempty"`    // its object was deleted
	Managed   bool   `json:"managed"`
	ManagedBy string `json:"managedBy,omitempty"`
	Gap       *Gap   `json:"gap,omitempty"` // of a state as of a time: nobody watched then, and this is how the Job was seen last
	// PassedOver: the Job's namespace is over its budget of log, and what is shown may be older than it says.
	PassedOver []Passed `json:"passedOver,omitempty"`
	Listing    bool     `json:"listing,omitempty"` // the view of the cluster was being made anew: nothing is decided then

	Origin *Origin `json:"origin,omitempty"` // where it comes from

	Created  recordjson.Instant `json:"created,omitzero"`
	Started  recordjson.Instant `json:"started,omitzero"`
	Finished recordjson.Instant `json:"finished,omitzero"`
	Deleted  recordjson.Instant `json:"deleted,omitzero"` // since when it is being deleted

	Spec      json.RawMessage `json:"spec,omitempty"`   // facts of the newest spec
	Published json.RawMessage `json:"status,omitempty"` // the newest status that the API server is known to hold
	Counts    Counts          `json:"counts"`
	Pods      []Pod           `json:"pods,omitempty"` // also those that are gone, in the order in which they were heard of

	InFlight     []Command `json:"inFlight,omitempty"`
	Waits        []Wait    `json:"waits,omitempty"`
	Refused      []Refusal `json:"refused,omitempty"`
	Notes        []string  `json:"notes,omitempty"`   // what the published status cannot show
	Trouble      []Failure `json:"trouble,omitempty"` // the newest failure of each sort of command, if none succeeded since
	LastDecision *Decision `json:"lastDecision,omitempty"`
}

// Origin is where a Job comes from.
type Origin struct {
	Kind         string            `json:"kind,omitempty"` // of its controller, such as a CronJob
	Name         string            `json:"name,omitempty"`
	UID          string            `json:"uid,omitempty"`
	GenerateName string            `json:"generateName,omitempty"` // the stem of its own name
	Labels       map[string]string `json:"labels,omitempty"`       // those that were kept (--keep-labels)
	Traceparent  string            `json:"traceparent,omitempty"`
}

func originOf(o *events.Origin) *Origin {
	if o == nil {
		return nil
	}
	v := &Origin{Kind: o.Kind, Name: o.Name, UID: string(o.UID), GenerateName: o.GenerateName, Traceparent: o.Traceparent}
	for _, l := range o.Labels {
		if v.Labels == nil {
			v.Labels = map[string]string{}
		}
		v.Labels[l.Name] = l.Value
	}
	return v
}

// Place is a record and its time.
type Place struct {
	Sequence uint64             `json:"sequence"`
	Time     recordjson.Instant `json:"time,omitzero"`
}

// Counts are the Job's pods in numbers, by all that the log says: also what the published status does not say yet.
type Counts struct {
	Active      int32 `json:"active"`
	Ready       int32 `json:"ready"`
	Terminating int32 `json:"terminating"`
	Succeeded   int32 `json:"succeeded"`
	Failed      int32 `json:"failed"`
	Creating    int   `json:"creating"`              // creates that are not settled
	Completions int32 `json:"completions,omitempty"` // wanted; absent for a work queue
}

// Command is a command that has not ended.
type Command struct {
	Command string             `json:"command,omitempty"` // record and place of the decision; absent while it is between two tries
	Does    string             `json:"does"`
	Since   recordjson.Instant `json:"since,omitzero"`
	Doubt   bool               `json:"inDoubt,omitempty"` // it was sent, and its outcome is unknown
}

// Wait is something that the Job waits for.
type Wait struct {
	For   string             `json:"for"`
	Until recordjson.Instant `json:"until,omitzero"`

	// Since and Record are when a backoff began, and the record of the failure that began it, where that is known.
	Since  recordjson.Instant `json:"since,omitzero"`
	Record uint64             `json:"record,omitempty"`
}

func (w Wait) since(p Place) Wait {
	w.Since, w.Record = p.Time, p.Sequence
	return w
}

// Failure is how a command failed.
type Failure struct {
	Sequence uint64             `json:"sequence"`
	Time     recordjson.Instant `json:"time,omitzero"`
	Says     string             `json:"says"`
}

// Decision is the newest decision.
type Decision struct {
	Sequence uint64             `json:"sequence"`
	Time     recordjson.Instant `json:"time,omitzero"`
	Steps    []Step             `json:"steps"`
}

// Step is the outcome of one rule.
type Step struct {
	Stage    string   `json:"stage"`
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
	Sentence string   `json:"sentence,omitempty"`
	Commands []string `json:"commands"`
}

// InPart reports whether the controller had no full view of the cluster as of then, so that more may have come of the
// Job than the log tells. Of one that is over nothing more comes.
func (j *Job) InPart() bool { return j.Listing && j.Retired == 0 && !j.State.over() && !j.Gone }

// over reports whether a Job of that state has come to its end.
func (s State) over() bool {
	return s == StateComplete || s == StateFailed || s == StateFinished || s == StateDeleted
}

// JobOf is the state of an account as of a record and a time, which is not before its newest record.
func JobOf(f *Fold, a *Account, asOf events.Sequence, now events.Time) Job {
	v := Job{
		UID: a.Stream.ID, AsOf: Place{Sequence: uint64(asOf), Time: recordjson.Instant(now)},
		First: uint64(a.First), Last: uint64(a.Last), Records: a.Records, Retired: uint64(a.Retired),
		Listing: f.World().Listing,
	}
	j := a.job
	if j == nil {
		v.State = StateUnseen
		if r := f.World().Retired(a.Stream); r != nil {
			v.State, v.Namespace, v.Name, v.Finished = StateFinished, r.Ref.Namespace, r.Ref.Name, recordjson.Instant(r.Finished)
			v.Managed = true
		}
		return v
	}
	v.Namespace, v.Name = j.Ref.Namespace, j.Ref.Name
	v.State, v.Reason, v.Message = stateOf(a)
	v.Gone = a.Deleted != 0 || j.Gone
	v.Managed, v.ManagedBy, v.Origin = j.Managed, j.ManagedBy, originOf(j.Origin)
	v.Created, v.Started, v.Deleted = recordjson.Instant(j.Created), recordjson.Instant(j.StartTime()), recordjson.Instant(j.Deleted)
	v.Finished = recordjson.Instant(finished(j))
	v.Spec = recordjson.Spec(j.Spec)
	v.Published = recordjson.Status(j.Base.Record())
	v.Counts = countsOf(j)
	v.Pods = a.podsOf(j)
	switch {
	case a.Rewound != 0:
		v.Notes = []string{fmt.Sprintf(
			"the cluster was restored from a backup (record %d), and the Job has not been seen since: this is how it was before", a.Rewound)}
	case a.Retired == 0 && a.Deleted == 0:
		v.InFlight, v.Waits, v.Refused, v.Notes = inFlight(a), waits(j, now), refusals(a, now), notes(j)
	}
	for _, f := range a.Trouble {
		if f != nil {
			v.Trouble = append(v.Trouble, *f)
		}
	}
	v.LastDecision = decisionOf(a.Decision, a.Stream, &a.names)
	return v
}

func countsOf(j *projector.Job) Counts {
	t := j.Tally()
	return Counts{
		Active: t.Active, Ready: t.Ready, Terminating: t.Terminating, Succeeded: j.SucceededCount(), Failed: j.FailedCount(),
		Creating: len(j.Creates()), Completions: j.Completions,
	}
}

func inFlight(a *Account) []Command {
	var out []Command
	flying := func(f *commands.Flight) {
		if f != nil {
			out = append(out, Command{Command: recordjson.CommandText(f.Name()), Does: a.names.Phrase(a.Stream, f.Command), Since: recordjson.Instant(f.Since)})
		}
	}
	for _, c := range a.job.Creates() {
		if f := c.Flight(); f != nil {
			flying(f)
			continue
		}
		out = append(out, Command{Does: a.names.Phrase(a.Stream, &c.CreatePod), Since: recordjson.Instant(c.Sent), Doubt: true})
	}
	for _, p := range a.job.Pods() {
		flying(p.Delete())
		flying(p.Drop())
		flying(p.Claim())
	}
	flying(a.job.Grouping())
	flying(a.job.Write())
	flying(a.job.Reading())
	return out
}

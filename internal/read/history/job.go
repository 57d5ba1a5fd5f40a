package history

import (
	"encoding/json"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/projector"
)

// Job is the answer of `jobledger get job/NAME`: the state of a Job as of one record of the log. Its JSON changes only
// by adding fields. Times are RFC 3339 with nanoseconds, UTC. Unset and empty fields are absent.
type Job struct {
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
	First      uint64             `json:"first,omitempty"`   // first record of the Job
	Last       uint64             `json:"last,omitempty"`    // newest record of the Job
	Records    uint64             `json:"records"`           // number of records of the Job
	Retired    uint64             `json:"retired,omitempty"` // record that nothing is left to do for the Job

	State     State  `json:"state"`
	Reason    string `json:"reason,omitempty"`  // reason of the condition that determines State
	Message   string `json:"message,omitempty"` // message of the condition that determines State
	Gone      bool   `json:"gone,omitempty"`    // the object was deleted
	Managed   bool   `json:"managed"`
	ManagedBy string `json:"managedBy,omitempty"`
	// Gap is set if nobody watched the cluster at the time asked for. The state is then the last one seen before the
	// gap.
	Gap *Gap `json:"gap,omitempty"`
	// PassedOver is set while the Job's namespace is over its log budget (how much log it may fill in an hour): changes
	// then have no record, so the state may be out of date.
	PassedOver []Passed `json:"passedOver,omitempty"`
	// Listing is set if the controller was listing the cluster at that time: it makes no decisions until the listing
	// ends.
	Listing bool `json:"listing,omitempty"`

	Origin *Origin `json:"origin,omitempty"` // owner and labels

	Created  recordjson.Instant `json:"created,omitzero"`
	Started  recordjson.Instant `json:"started,omitzero"`
	Finished recordjson.Instant `json:"finished,omitzero"`
	Deleted  recordjson.Instant `json:"deleted,omitzero"` // when its deletion was requested

	Spec      json.RawMessage `json:"spec,omitempty"`   // the newest spec, with the fields that decisions need
	Published json.RawMessage `json:"status,omitempty"` // newest status that the API server is known to have stored
	Counts    Counts          `json:"counts"`
	Pods      []Pod           `json:"pods,omitempty"` // also deleted pods; ordered by their first records

	InFlight []Command `json:"inFlight,omitempty"`
	Waits    []Wait    `json:"waits,omitempty"`
	Refused  []Refusal `json:"refused,omitempty"`
	Notes    []string  `json:"notes,omitempty"` // what the Job's status cannot show, as sentences
	// Trouble has, for each sort of command, the newest failure if no such command succeeded since.
	Trouble      []Failure `json:"trouble,omitempty"`
	LastDecision *Decision `json:"lastDecision,omitempty"`
}

// Origin says where a Job comes from: its owner, and its labels.
type Origin struct {
	Kind         string            `json:"kind,omitempty"` // kind of the owner with controller: true, such as CronJob
	Name         string            `json:"name,omitempty"`
	UID          string            `json:"uid,omitempty"`
	GenerateName string            `json:"generateName,omitempty"` // metadata.generateName
	Labels       map[string]string `json:"labels,omitempty"`       // labels that the log keeps (option --keep-labels)
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

// Place is a place in the log: a record and its time.
type Place struct {
	Sequence uint64             `json:"sequence"`
	Time     recordjson.Instant `json:"time,omitzero"`
}

// Counts has the numbers of the Job's pods by the records of the log. The status of the Job may show them later.
type Counts struct {
	Active      int32 `json:"active"`
	Ready       int32 `json:"ready"`
	Terminating int32 `json:"terminating"`
	Succeeded   int32 `json:"succeeded"`
	Failed      int32 `json:"failed"`
	Creating    int   `json:"creating"`              // create commands whose outcome is not known yet
	Completions int32 `json:"completions,omitempty"` // wanted, or wanted when the Job ended; absent for a work queue
}

// Command is a command to the API server that has not ended.
type Command struct {
	// Command is the number of the decision record and the position in the decision, such as "41/0". It is absent while
	// the command waits to be tried again.
	Command string             `json:"command,omitempty"`
	Does    string             `json:"does"`
	Since   recordjson.Instant `json:"since,omitzero"`
	Doubt   bool               `json:"inDoubt,omitempty"` // no answer came: it may have been carried out
}

// Wait is one thing that the Job waits for.
type Wait struct {
	For   string             `json:"for"`
	Until recordjson.Instant `json:"until,omitzero"`

	// Since and Record are set for a backoff: when it began, and the record of the failure that caused it, if known.
	Since  recordjson.Instant `json:"since,omitzero"`
	Record uint64             `json:"record,omitempty"`
}

func (w Wait) since(p Place) Wait {
	w.Since, w.Record = p.Time, p.Sequence
	return w
}

// Failure is one failure of a command.
type Failure struct {
	Sequence uint64             `json:"sequence"`
	Time     recordjson.Instant `json:"time,omitzero"`
	Says     string             `json:"says"`
}

// Decision is the controller's newest decision about the object.
type Decision struct {
	Sequence uint64             `json:"sequence"`
	Time     recordjson.Instant `json:"time,omitzero"`
	Steps    []Step             `json:"steps"`
}

// Step is a part of a decision: the commands that one rule of the reconciler asked for, and its reason.
type Step struct {
	Stage    string   `json:"stage"`
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
	Sentence string   `json:"sentence,omitempty"`
	Commands []string `json:"commands"`
}

// InPart reports whether the controller was just listing the cluster, so that the Job may have changed in ways that the
// log does not know yet. It is false for a Job that is over.
func (j *Job) InPart() bool { return j.Listing && j.Retired == 0 && !j.State.over() && !j.Gone }

// over reports whether s is a final state.
func (s State) over() bool {
	return s == StateComplete || s == StateFailed || s == StateFinished || s == StateDeleted
}

// JobOf returns the state of the Job with account a, as of record asOf, at time now. The time decides which waits are
// over; it must not be before the newest record of the Job.
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
	v.Gone = a.removed()
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
	t, succeeded := j.Tally(), j.SucceededCount()
	_, terms, _ := j.LastSpec()
	if j.Indexed && j.Finished() {
		succeeded = j.LastCompleted().Len()
	}
	return Counts{
		Active: t.Active, Ready: t.Ready, Terminating: t.Terminating, Succeeded: succeeded, Failed: j.FailedCount(),
		Creating: len(j.Creates()), Completions: terms.Completions,
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

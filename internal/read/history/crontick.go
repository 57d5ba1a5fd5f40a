package history

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
)

// Tick is a due time of a CronJob and its outcome, or a range of due times with the same outcome. Its JSON changes only
// by adding fields.
type Tick struct {
	First recordjson.Instant `json:"first"`
	Last  recordjson.Instant `json:"last"`            // the same as First for a single due time
	Count int                `json:"count,omitempty"` // number of due times; absent if not counted
	Fate  string             `json:"fate"`            // the outcome: the name of an events.TickFate, such as Started
	Says  string             `json:"says"`            // Fate as a sentence
	// Why is what kept the due time from starting, or delayed its start, if records prove it.
	Why    string             `json:"why,omitempty"`
	Into   recordjson.Instant `json:"into,omitzero"`  // the later due time for which a Job started in place of this one
	Late   string             `json:"late,omitempty"` // delay from the due time to the creation of the Job
	Job    string             `json:"job,omitempty"`
	JobUID string             `json:"jobUID,omitempty"`
	By     string             `json:"by,omitempty"`     // the user who created the Job or asked for it
	Zone   string             `json:"zone,omitempty"`   // hash of the time zone rules; absent for UTC
	Record uint64             `json:"record,omitempty"` // the record with the outcome

	// Observed is set if another controller ran the CronJob: the outcome is then inferred from what the watch showed.
	Observed bool   `json:"observed,omitempty"`
	Seen     string `json:"seen,omitempty"` // if Observed: delay from the due time until the watch reported its Job
	// UnwatchedFrom and UnwatchedUntil are the bounds of a time in which nobody watched the cluster. Because of it the
	// outcome is unknown.
	UnwatchedFrom  recordjson.Instant `json:"unwatchedFrom,omitzero"`
	UnwatchedUntil recordjson.Instant `json:"unwatchedUntil,omitzero"`
}

// TickOf returns the JSON form of t, a due time (or a range of due times) with its outcome. record has the outcome.
func TickOf(t *events.Tick, record events.Sequence) Tick {
	out := Tick{
		First: recordjson.Instant(t.First), Last: recordjson.Instant(t.Last), Fate: t.Fate.String(), Says: words.TickSays(t),
		Into: recordjson.Instant(t.Into), Job: t.Name, JobUID: string(t.Job), By: t.By, Zone: t.Zone, Record: uint64(record),
		Observed: t.Observed, UnwatchedFrom: recordjson.Instant(t.UnwatchedFrom), UnwatchedUntil: recordjson.Instant(t.UnwatchedUntil),
	}
	if t.Fate == events.TickRefused && t.Name != "" {
		out.Says += ": that Job is of another due time"
	}
	if t.Late != 0 {
		out.Late = t.Late.Round(time.Millisecond).String()
	}
	if t.Seen != 0 {
		out.Seen = t.Seen.Round(time.Millisecond).String()
	}
	return out
}

// OpenDue is a due time that has no outcome yet: not started and not skipped. Its JSON changes only by adding fields.
type OpenDue struct {
	At     recordjson.Instant `json:"at"`
	Hold   string             `json:"hold,omitempty"`   // name of what holds it back, such as Forbid
	Says   string             `json:"says"`             // what holds it back, as a sentence
	Since  recordjson.Instant `json:"since,omitzero"`   // since when it is held back, if known
	Record uint64             `json:"record,omitempty"` // the record that says that it is held back
	// First is set if another controller has missed several due times in a row: it is the first of them. At is the last
	// one, which may still start.
	First recordjson.Instant `json:"first,omitzero"`
}

// openOf returns the due time of a CronJob that has no outcome yet; nil if there is none. l is what the decisions store
// about due times. held is the record and the time since which the due time is held back.
func openOf(l *events.TickLedger, held cronjob.Place) *OpenDue {
	if l.Open == 0 || l.Closed {
		return nil
	}
	return &OpenDue{
		At: recordjson.Instant(l.Open), Hold: l.Hold.String(), Says: words.HoldText(l.Hold), Since: recordjson.Instant(held.Time),
		Record: uint64(held.At),
	}
}

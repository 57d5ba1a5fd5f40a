package history

import (
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
)

// Tick is a due time of a CronJob with its fate, or a range of due times. Its JSON changes only by adding fields.
type Tick struct {
	First recordjson.Instant `json:"first"`
	Last  recordjson.Instant `json:"last"`            // the same as First for one due time
	Count int                `json:"count,omitempty"` // number of due times; absent if not counted
	Fate  string             `json:"fate"`            // name of an events.TickFate
	Says  string             `json:"says"`            // Fate in words
	// Why is what kept it from starting, or from starting in time, if the log proves it.
	Why    string             `json:"why,omitempty"`
	Into   recordjson.Instant `json:"into,omitzero"`  // the later due time that runs for it
	Late   string             `json:"late,omitempty"` // delay between due time and creation of the Job
	Job    string             `json:"job,omitempty"`
	JobUID string             `json:"jobUID,omitempty"`
	By     string             `json:"by,omitempty"`     // who made the Job by hand, or asked for it
	Zone   string             `json:"zone,omitempty"`   // hash of the zone rules; absent for UTC
	Record uint64             `json:"record,omitempty"` // record with the fate

	// Observed is set if another controller ran the CronJob: the fate is concluded from what was seen.
	Observed bool   `json:"observed,omitempty"`
	Seen     string `json:"seen,omitempty"` // if Observed: delay between due time and the first sight of its Job
	// UnwatchedFrom and UnwatchedUntil bound the time without a watch that makes a fate unknown.
	UnwatchedFrom  recordjson.Instant `json:"unwatchedFrom,omitzero"`
	UnwatchedUntil recordjson.Instant `json:"unwatchedUntil,omitzero"`
}

// TickOf returns the Tick of a due time, or of a range, in a record.
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

// OpenDue is a due time without a fate. Its JSON changes only by adding fields.
type OpenDue struct {
	At     recordjson.Instant `json:"at"`
	Hold   string             `json:"hold,omitempty"`   // name of an events.TickHold; absent if nothing holds it back
	Says   string             `json:"says"`             // Hold in words
	Since  recordjson.Instant `json:"since,omitzero"`   // start of the hold, if known
	Record uint64             `json:"record,omitempty"` // record that has the hold
	// First is the first of several due times in a row that another controller has not started. At is the last, which
	// may still start.
	First recordjson.Instant `json:"first,omitzero"`
}

// openOf returns the open due time of a ledger; nil if there is none.
func openOf(l *events.TickLedger, held cronjob.Place) *OpenDue {
	if l.Open == 0 || l.Closed {
		return nil
	}
	return &OpenDue{
		At: recordjson.Instant(l.Open), Hold: l.Hold.String(), Says: words.HoldText(l.Hold), Since: recordjson.Instant(held.Time),
		Record: uint64(held.At),
	}
}

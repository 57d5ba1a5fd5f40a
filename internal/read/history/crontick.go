package history

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
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

// Memory completes the summary of a CronJob that a stored state leaves incomplete: it finds the newest due time with a
// fate, and since when the open one is held back. Take must get the records from the newest back.
type Memory struct {
	Of *CronSummary

	held  heldFor
	begun bool // a record has the hold; older ones may have it too
	over  bool // an older record has another hold, or none
}

// Take takes in the next older record. It reports whether the summary is complete.
func (m *Memory) Take(r *events.Record) bool {
	var a CronAccount
	a.take(r)
	if m.Of.LastDue == nil {
		m.Of.LastDue = a.Tick
	}
	if !m.over && tellsHold(r) {
		m.hold(&a)
	}
	m.over = m.over || m.begun && r.Previous == 0
	return m.Of.LastDue != nil && m.over
}

func (m *Memory) hold(a *CronAccount) {
	if m.begun && a.heldFor != m.held || a.Held.Sequence == 0 {
		m.over = true
		return
	}
	m.begun, m.held = true, a.heldFor
	m.Of.Due = &OpenDue{At: recordjson.Instant(m.held.due), Hold: m.held.by, Since: a.Held.Time, Record: a.Held.Sequence}
}

// End ends the records. If the hold may have begun before the oldest of them, its start is unknown.
func (m *Memory) End() {
	if m.begun && !m.over {
		m.Of.Due.Since, m.Of.Due.Record = 0, 0
	}
}

// tellsHold reports whether a record says what holds the open due time back, or that nothing does.
func tellsHold(r *events.Record) bool {
	d, ok := r.Facts.(*events.Decision)
	return ok && r.Kind != events.KindWouldDecide && slices.ContainsFunc(d.Steps, func(s events.Step) bool { return s.Cron != nil && s.Cron.Ledger != nil })
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
func openOf(l *events.TickLedger, held Place) *OpenDue {
	if l.Open == 0 || l.Closed {
		return nil
	}
	return &OpenDue{
		At: recordjson.Instant(l.Open), Hold: l.Hold.String(), Says: words.HoldText(l.Hold), Since: held.Time, Record: held.Sequence,
	}
}

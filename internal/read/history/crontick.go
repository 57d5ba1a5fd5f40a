package history

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Tick is a due time of a CronJob with its fate, or a range of them. Its JSON changes only by growing.
type Tick struct {
	First  recordjson.Instant `json:"first"`
	Last   recordjson.Instant `json:"last"`            // the same for one
	Count  int                `json:"count,omitempty"` // how many due times; left out where that is not counted
	Fate   string             `json:"fate"`            // a name of events.TickFate
	Says   string             `json:"says"`            // the same for people
	Why    string             `json:"why,omitempty"`   // what kept it from starting, or from starting in time, where the log proves it
	Into   recordjson.Instant `json:"into,omitzero"`   // the later one that runs for it
	Late   string             `json:"late,omitempty"`  // how long after it was due its Job was made
	Job    string             `json:"job,omitempty"`
	JobUID string             `json:"jobUID,omitempty"`
	By     string             `json:"by,omitempty"`     // who made the Job by hand, or asked for it
	Zone   string             `json:"zone,omitempty"`   // hash of the rules by which it was due; left out for UTC
	Record uint64             `json:"record,omitempty"` // that tells it

	Observed bool   `json:"observed,omitempty"` // another controller ran the CronJob, and this was found from what was seen
	Seen     string `json:"seen,omitempty"`     // how long after it was due its Job was seen first, of one that is observed
	// UnwatchedFrom and UnwatchedUntil bound the time without a watch, of one that is unknown.
	UnwatchedFrom  recordjson.Instant `json:"unwatchedFrom,omitzero"`
	UnwatchedUntil recordjson.Instant `json:"unwatchedUntil,omitzero"`
}

// TickOf is what a record tells of a due time, or of a range of them.
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

// Memory fills in what a stored state does not tell of a CronJob, by the records before it: the newest due time with
// its fate, and since when the open one is held back. It is shown the records from the newest back.
type Memory struct {
	Of *CronSummary

	held  heldFor
	begun bool // a record tells what is held back; those before it may tell the same again
	over  bool // and one before that tells something else
}

// Take takes the record before, and reports whether nothing is missing any more.
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

// End says that no record before is shown: of a hold that may have begun before the last one it is not known since when
// it lasts.
func (m *Memory) End() {
	if m.begun && !m.over {
		m.Of.Due.Since, m.Of.Due.Record = 0, 0
	}
}

// tellsHold reports whether a record tells what holds the open due time back, if anything.
func tellsHold(r *events.Record) bool {
	d, ok := r.Facts.(*events.Decision)
	return ok && r.Kind != events.KindWouldDecide && slices.ContainsFunc(d.Steps, func(s events.Step) bool { return s.Cron != nil && s.Cron.Ledger != nil })
}

// OpenDue is a due time that has no fate yet. Its JSON changes only by growing.
type OpenDue struct {
	At     recordjson.Instant `json:"at"`
	Hold   string             `json:"hold,omitempty"`   // a name of events.TickHold; left out while nothing holds it back
	Says   string             `json:"says"`             // the same for people
	Since  recordjson.Instant `json:"since,omitzero"`   // since when that holds it back, as far as it is known
	Record uint64             `json:"record,omitempty"` // that tells it
	// First is the first of several in a row that another controller has not started so far; At is the last, which may yet
	// start.
	First recordjson.Instant `json:"first,omitzero"`
}

// openOf is the open due time of a ledger; nil for none.
func openOf(l *events.TickLedger, held Place) *OpenDue {
	if l.Open == 0 || l.Closed {
		return nil
	}
	return &OpenDue{
		At: recordjson.Instant(l.Open), Hold: l.Hold.String(), Says: words.HoldText(l.Hold), Since: held.Time, Record: held.Sequence,
	}
}

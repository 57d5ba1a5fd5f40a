package explain

import (
	"github.com/jobledger/jobledger/events"
)

func RecordMark(at events.Sequence) Mark { return Mark{Record: at} }

// Mark names a record that proves something, and says when this happened, by our clock. The zero Mark means no record.
type Mark struct {
	Record events.Sequence
	At     events.Time
}

func MarkOf(r *events.Record) Mark { return Mark{r.Sequence, r.Time} }

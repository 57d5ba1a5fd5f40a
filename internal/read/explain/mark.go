package explain

import (
	"github.com/jobledger/jobledger/events"
)

func RecordMark(at events.Sequence) Mark { return Mark{Record: at} }

// Mark is a record, and the time by our clock of what it says. The zero Mark is none.
type Mark struct {
	Record events.Sequence
	At     events.Time
}

func MarkOf(r *events.Record) Mark { return Mark{r.Sequence, r.Time} }

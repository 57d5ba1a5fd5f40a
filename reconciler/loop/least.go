package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// leastProgram is the first release that reads what this program writes. It follows when one of the numbers in Least is
// raised.
const leastProgram = "v0.1.0"

// Least is what a reader of this program's records needs at least. Every start, every file and every snapshot says it.
func Least() events.ReaderVersion {
	return events.ReaderVersion{
		Format: events.LeastFormat, Rules: reconciler.LeastRules, Fold: projector.LeastFold, Program: leastProgram,
	}
}

// Reader is what this program, of that version, can read.
func Reader(program string) events.ReaderVersion {
	return events.ReaderVersion{
		Format: events.Format, Rules: reconciler.RulesVersion, Fold: projector.FoldVersion, Program: program,
	}
}

// readable says so when the loop cannot go on with a log that has this record: its fold or its decisions could be
// wrong.
func readable(rec *events.Record) error {
	if f, ok := rec.Facts.(*events.ControllerStarted); ok {
		if own := Reader(""); !own.Reads(f.Least) {
			return &events.NewerError{Writer: f.Version, Needs: f.Least, Has: own}
		}
	}
	return projector.Readable(rec)
}

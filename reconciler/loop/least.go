package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// leastProgram is the oldest release that can read this program's records. Raise it together with a number in Least.
const leastProgram = "v0.1.0"

// Least returns the minimum versions that a program needs to read this program's records. It is stored with each start,
// file and snapshot.
func Least() events.ReaderVersion {
	return events.ReaderVersion{
		Format: events.LeastFormat, Rules: reconciler.LeastRules, Fold: projector.LeastFold, Program: leastProgram,
	}
}

// Reader returns the versions of records that this program can read. program is its release, such as v0.1.0.
func Reader(program string) events.ReaderVersion {
	return events.ReaderVersion{
		Format: events.Format, Rules: reconciler.RulesVersion, Fold: projector.FoldVersion, Program: program,
	}
}

// readable returns a NewerError if the record is from a newer program whose log this loop cannot continue, because its
// state or its decisions could be wrong.
func readable(rec *events.Record) error {
	if f, ok := rec.Facts.(*events.ControllerStarted); ok {
		if own := Reader(""); !own.Reads(f.Least) {
			return &events.NewerError{Writer: f.Version, Needs: f.Least, Has: own}
		}
	}
	return projector.Readable(rec)
}

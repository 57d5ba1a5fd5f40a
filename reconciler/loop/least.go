package loop

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// leastProgram is the first release that can read this program's records. Update it whenever a number in Least is
// raised.
const leastProgram = "v0.1.0"

// Least returns the minimum reader version for this program's records. Each start, file and snapshot records it.
func Least() events.ReaderVersion {
	return events.ReaderVersion{
		Format: events.LeastFormat, Rules: reconciler.LeastRules, Fold: projector.LeastFold, Program: leastProgram,
	}
}

// Reader returns the versions that this program, called program, can read.
func Reader(program string) events.ReaderVersion {
	return events.ReaderVersion{
		Format: events.Format, Rules: reconciler.RulesVersion, Fold: projector.FoldVersion, Program: program,
	}
}

// readable returns a NewerError if the loop cannot continue a log with this record, because its fold or decisions
// could be wrong.
func readable(rec *events.Record) error {
	if f, ok := rec.Facts.(*events.ControllerStarted); ok {
		if own := Reader(""); !own.Reads(f.Least) {
			return &events.NewerError{Writer: f.Version, Needs: f.Least, Has: own}
		}
	}
	return projector.Readable(rec)
}

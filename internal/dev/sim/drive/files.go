package drive

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/replay"
)

// files checks that a log can begin with any of its files, because the oldest ones are deleted in time (pruning). Each
// file stores the whole state again, piece by piece; the record FileRestated says when this is complete. From then on a
// log that begins with that file must equal the whole log: the states are the same, and a replay decides the same. Two
// such logs are followed to the end: the one that begins first and the one that begins last.
type files struct {
	whole *projector.World
	// replays of the first and of the last log that begins with a later file; nil until there is one
	first, last *replay.Replay
}

func newFiles() *files { return &files{whole: projector.NewWorld()} }

// follow folds the next record into the states of the whole log and of the logs that begin later. If the record
// begins a file, another log begins here.
func (f *files) follow(rec *events.Record) error {
	if begins(rec) {
		if f.last = replay.New(); f.first == nil {
			f.first = f.last
		}
	}
	f.whole.Apply(rec)
	for _, r := range f.both() {
		found, err := r.Record(*rec)
		if err != nil {
			return fmt.Errorf("a log without its first files: %w", err)
		}
		for _, divergence := range found {
			return fmt.Errorf("replay of a log without its first files: %s", divergence)
		}
	}
	if restated, ok := rec.Facts.(*events.FileRestated); ok && rec.Last {
		if err := same("the whole log", f.whole, fmt.Sprintf("the log from record %d on", restated.File), f.last.World()); err != nil {
			return fmt.Errorf("through record %d: %w", rec.Sequence, err)
		}
	}
	return nil
}

// end compares the state of the whole log with those of the logs that begin later, after the last record.
func (f *files) end() error {
	for _, r := range f.both() {
		if newest, stated := r.World().Restated(); stated == newest {
			if err := same("the whole log", f.whole, "one without its first files", r.World()); err != nil {
				return err
			}
		}
	}
	return nil
}

// begins reports whether a record is the first one of a file of the log.
func begins(rec *events.Record) bool {
	return rec.Stream == events.Controller && rec.Kind == events.KindStateStored
}

func (f *files) both() []*replay.Replay {
	if f.first == nil {
		return nil
	}
	if f.first == f.last {
		return []*replay.Replay{f.first}
	}
	return []*replay.Replay{f.first, f.last}
}

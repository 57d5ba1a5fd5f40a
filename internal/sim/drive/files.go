package drive

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store/memlog"
)

// checkFiles: a log that begins with a file is, from the record on which says that the file stands alone, the log that has all files
// before it: the worlds hold the same states, and a replay of the rest decides the same. Two such logs are followed to the
// end, the one that begins first and the one that begins last.
func checkFiles(log *memlog.Log) error {
	whole := projector.NewWorld()
	var first, last *replay.Replay // of logs that begin with a file
	for rec, err := range log.Read(context.Background(), 1) {
		if err != nil {
			return err
		}
		if begins(&rec) {
			if last = replay.New(); first == nil {
				first = last
			}
		}
		whole.Apply(&rec)
		for _, r := range both(first, last) {
			found, err := r.Record(rec)
			if err != nil {
				return fmt.Errorf("a log without its first files: %w", err)
			}
			for _, divergence := range found {
				return fmt.Errorf("replay of a log without its first files: %s", divergence)
			}
		}
		if f, ok := rec.Facts.(*events.FileRestated); ok && rec.Last {
			if err := same("the whole log", whole, fmt.Sprintf("the log from record %d on", f.File), last.World()); err != nil {
				return fmt.Errorf("through record %d: %w", rec.Sequence, err)
			}
		}
	}
	for _, r := range both(first, last) {
		if newest, stated := r.World().Restated(); stated == newest {
			if err := same("the whole log", whole, "one without its first files", r.World()); err != nil {
				return err
			}
		}
	}
	return nil
}

// begins reports whether a record is the first of a file.
func begins(rec *events.Record) bool {
	return rec.Stream == events.Controller && rec.Kind == events.KindStateStored
}

func both(first, last *replay.Replay) []*replay.Replay {
	if first == nil {
		return nil
	}
	if first == last {
		return []*replay.Replay{first}
	}
	return []*replay.Replay{first, last}
}

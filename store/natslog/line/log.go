package line

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Log is a replicated log: its batches are stored in the stream of a Line before they are in the log. Its Room succeeds
// only if both the log and the stream have space.
type Log struct {
	store.Log
	line *Line
}

var _ store.Log = (*Log)(nil)

// Of returns the log `log` together with its stream. It must have been opened with the Before of l.
func Of(log store.Log, l *Line) *Log { return &Log{Log: log, line: l} }

// Append implements store.Log: it appends the batch to the local log, and counts its bytes until they are durable, for
// the limit of Room.
func (l *Log) Append(b events.Batch, soon bool) store.Commit {
	c := l.Log.Append(b, soon)
	l.line.waiting.Add(int64(c.Bytes()))
	return c
}

// Room implements store.Log: it returns ErrNoRoom if the disk or the stream has no space. A stream that cannot be
// reached counts as a full disk.
func (l *Log) Room(bytes int) error {
	if err := l.Log.Room(bytes); err != nil {
		return err
	}
	return l.line.Room()
}

package line

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Log is a log whose batches a Line stores in a stream. Its Room succeeds only if both the log and the stream have
// space.
type Log struct {
	store.Log
	line *Line
}

var _ store.Log = (*Log)(nil)

// Of wraps log, which must have been opened with the Line's Before.
func Of(log store.Log, l *Line) *Log { return &Log{Log: log, line: l} }

// Append implements store.Log.
func (l *Log) Append(b events.Batch, soon bool) store.Commit {
	c := l.Log.Append(b, soon)
	l.line.waiting.Add(int64(c.Bytes()))
	return c
}

// Room implements store.Log. A stream that cannot be reached counts as a full disk.
func (l *Log) Room(bytes int) error {
	if err := l.Log.Room(bytes); err != nil {
		return err
	}
	return l.line.Room()
}

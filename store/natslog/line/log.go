package line

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Log is a log whose batches a line stores. It has room only if both the log and the stream have room.
type Log struct {
	store.Log
	line *Line
}

var _ store.Log = (*Log)(nil)

// Of wraps a log that was opened with the line's Before.
func Of(log store.Log, l *Line) *Log { return &Log{Log: log, line: l} }

// Append is described by store.Log.
func (l *Log) Append(b events.Batch, soon bool) store.Commit {
	c := l.Log.Append(b, soon)
	l.line.waiting.Add(int64(c.Bytes()))
	return c
}

// Room is described by store.Log. A stream that is away counts as a full disk.
func (l *Log) Room(bytes int) error {
	if err := l.Log.Room(bytes); err != nil {
		return err
	}
	return l.line.Room()
}

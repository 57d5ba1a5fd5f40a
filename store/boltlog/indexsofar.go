package boltlog

import (
	"log/slog"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/index"
)

// indexEvery is after how many records the index of the tail is stored as it is then: after a crash, readers look at so
// many headers at most to complete it.
const indexEvery = 256 << 10

// indexSoFar stores the index of the tail as of the durable head.
func (l *Log) indexSoFar() {
	l.indexing.Lock()
	defer l.indexing.Unlock()
	l.mu.Lock()
	f, end := l.files[len(l.files)-1], l.durable
	l.mu.Unlock()
	if end.Sequence < f.first {
		return // it has just begun
	}
	if err := writeFile(f.indexPath(), encodeIndex(f.memory, end, f.memory.Youngest())); err != nil {
		l.options.Logger.Warn("the index of the newest file is not stored", slog.String("file", f.path), slog.Any("error", err))
	}
}

// indexed is the index that was stored of the file when it had fewer records, and the first record that it lacks; an
// empty one when there is none, or it cannot be believed.
func (f *logFile) indexed(last events.Sequence) (*index.Index, events.Sequence) {
	none := index.New(f.first)
	had := indexEnd(f.indexPath())
	if had.Sequence < f.first || had.Sequence > last {
		return none, f.first
	}
	if hash, err := f.hashAt(had.Sequence); err != nil || hash != had.Hash {
		return none, f.first
	}
	stored, err := openStoredIndex(f.indexPath(), f.first, had)
	if err != nil {
		return none, f.first
	}
	defer func() { _ = stored.close() }() // it was only read
	x := index.New(f.first)
	if stored.load(x) != nil {
		return none, f.first
	}
	x.TakeYoungest(stored.youngest)
	return x, had.Sequence + 1
}

package boltlog

import (
	"log/slog"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/index"
	"github.com/jobledger/jobledger/store/internal/streamindex"
)

// indexEvery is the number of records after which the index of the newest file is stored again. So after a crash a
// reader scans at most about 262,144 records to complete the index.
const indexEvery = 256 << 10

// indexSoFar stores the index of the newest file, as it is at the durable head (the last record on disk). So a reader
// after a crash need not scan the whole file.
func (l *Log) indexSoFar() {
	l.indexing.Lock()
	defer l.indexing.Unlock()
	l.mu.Lock()
	f, end := l.files[len(l.files)-1], l.durable
	l.mu.Unlock()
	if end.Sequence < f.first {
		return // the newest file has no durable record yet
	}
	if err := disk.WriteFile(f.indexPath(), streamindex.Encode(f.memory, end, f.memory.Youngest())); err != nil {
		l.options.Logger.Warn("the index of the newest file is not stored", slog.String("file", f.path), slog.Any("error", err))
	}
}

// indexed returns the index that is stored on disk for the file, and the first record that this index does not cover.
// If no index matches the file, it returns an empty one and the file's first record.
func (f *logFile) indexed(last events.Sequence) (*index.Index, events.Sequence) {
	none := index.New(f.first)
	had := indexEnd(f.indexPath())
	if had.Sequence < f.first || had.Sequence > last {
		return none, f.first
	}
	if hash, err := f.hashAt(had.Sequence); err != nil || hash != had.Hash {
		return none, f.first
	}
	stored, err := streamindex.Open(f.indexPath(), f.first, had)
	if err != nil {
		return none, f.first
	}
	defer func() { _ = stored.Close() }() // the file was only read, so an error of Close loses nothing
	x := index.New(f.first)
	if stored.Load(x) != nil {
		return none, f.first
	}
	x.TakeYoungest(stored.Youngest)
	return x, had.Sequence + 1
}

package boltlog

import (
	"github.com/jobledger/jobledger/events"
)

// readable returns events.ErrNewer when the content of a file needs a newer program than this one. The file format was
// checked at the open.
func (l *Log) readable() error {
	needs, err := l.needs()
	if err != nil {
		return err
	}
	return needs.check(l.options.Reader)
}

// needs returns the least reader version of all files together.
func (l *logReader) needs() (least, error) {
	var all least
	for _, f := range l.files {
		if f.ended != nil {
			continue // the file cannot be read; another error reports that
		}
		b, err := f.begin()
		if err != nil {
			return all, f.corrupt(f.first, err)
		}
		if both := all.Max(b.least.ReaderVersion); both != all.ReaderVersion {
			all = least{both, b.least.writer}
		}
	}
	return all, nil
}

// Readable returns events.ErrNewer when a program of version own cannot read the log. It compares only the numbers that
// are set. A program calls it before it folds records.
func (l *ReadOnly) Readable(own events.ReaderVersion) error {
	needs, err := l.needs()
	if err != nil {
		return nil //nolint:nilerr // the damage is reported elsewhere
	}
	return needs.check(own)
}

package boltlog

import (
	"github.com/jobledger/jobledger/events"
)

// readable says so when a file needs a newer program than this one. What its form is was said when it was opened; this
// is about what stands in it.
func (l *Log) readable() error {
	needs, err := l.needs()
	if err != nil {
		return err
	}
	return needs.check(l.options.Reader)
}

// needs is the least reader of all files together.
func (l *logReader) needs() (least, error) {
	var all least
	for _, f := range l.files {
		if f.ended != nil {
			continue // it cannot be read, and that is said
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

// Readable says so when a program of that version cannot read the log: the error is ErrNewer. Only the numbers that are
// given are compared. Whoever folds records asks before it does.
func (l *ReadOnly) Readable(own events.ReaderVersion) error {
	needs, err := l.needs()
	if err != nil {
		return nil //nolint:nilerr // it is damaged, and that is said elsewhere
	}
	return needs.check(own)
}

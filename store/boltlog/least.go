package boltlog

import (
	"github.com/jobledger/jobledger/events"
)

// readable returns events.ErrNewer if a file has content that needs a newer program. The file format itself was checked
// at the open.
func (l *Log) readable() error {
	needs, err := l.needs()
	if err != nil {
		return err
	}
	return needs.check(l.options.Reader)
}

// needs returns the minimum reader version that all files together require.
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

// Readable returns events.ErrNewer if a program of version own cannot read the log. A number of own that is 0 is not
// compared. A program calls it before it applies records.
func (l *ReadOnly) Readable(own events.ReaderVersion) error {
	needs, err := l.needs()
	if err != nil {
		return nil //nolint:nilerr // the damage is reported elsewhere
	}
	return needs.check(own)
}

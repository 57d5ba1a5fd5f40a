package boltlog

import (
	"github.com/jobledger/jobledger/events"
)

// readable returns events.ErrNewer if a file has content that this program is too old to read. The file format itself
// was checked at the open.
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
			continue // skip a file that cannot be read: whoever reads its records gets the error
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

// Readable implements store.Archive: it returns events.ErrNewer if a program of version own cannot read the log. A
// number in own that is 0 is not compared. A program calls Readable before it applies records.
func (l *ReadOnly) Readable(own events.ReaderVersion) error {
	needs, err := l.needs()
	if err != nil {
		return nil //nolint:nilerr // a read of the records reports the damage
	}
	return needs.check(own)
}

package boltlog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// chainCheck follows the chain for a reader who reads on and on. A record that was rewritten with a right checksum is
// found before it is given to anybody, when the reader came from an earlier commit group or from the beginning of the
// file.
type chainCheck struct {
	file *logFile
	next events.Sequence // after which record the chain value is known; 0 when it is not
	hash events.Hash
}

// whole says how many of the chunks are of groups that end among them. The first chunk holds the record next. The chain
// values of these agree; otherwise there is an error, and the count is of the groups before.
func (k *chainCheck) whole(f *logFile, next events.Sequence, chunks []chunk) (whole int, err error) {
	if k.file != f || k.next != next {
		k.file, k.next = f, 0
		if next == f.first {
			if hash, err := f.hashBefore(); err == nil { // else it shows elsewhere
				k.next, k.hash = next, hash
			}
		}
	}
	for i, c := range chunks {
		r, err := c.reader()
		if err != nil {
			return len(chunks), nil //nolint:nilerr // who reads the records names the one that is damaged
		}
		if r.hash == nil {
			continue
		}
		if err := k.group(f, chunks[whole:i+1], *r.hash); err != nil {
			return whole, err
		}
		whole = i + 1
	}
	return whole, nil
}

// group follows the chain over one group, which ends with a chain value.
func (k *chainCheck) group(f *logFile, group []chunk, stored events.Hash) error {
	hash, end := k.hash, events.Sequence(0)
	for _, c := range group {
		r, err := c.reader()
		for err == nil && len(r.rest) > 0 {
			var record []byte
			if r.next < k.next || k.next == 0 { // the reader came from the middle of a block
				err = r.skip()
			} else if record, _, err = r.record(); err == nil {
				hash, err = hash.Next(record)
			}
		}
		if err != nil {
			k.next = 0
			return nil //nolint:nilerr // as above
		}
		end = r.next
	}
	if k.next != 0 && hash != stored {
		return f.corrupt(group[0].first, fmt.Errorf("the chain value behind record %d is %s, the records give %s", end-1, stored, hash))
	}
	k.next, k.hash = end, stored
	return nil
}

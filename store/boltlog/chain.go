package boltlog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

// chainCheck verifies the hash chain for a reader of consecutive records. It finds a record that was rewritten with a
// valid checksum before any caller gets it, if the reader began in an earlier commit group or at the beginning of the
// file.
type chainCheck struct {
	file *logFile
	next events.Sequence // hash is the chain value before this record; 0 when unknown
	hash events.Hash
}

// whole returns how many of the chunks belong to commit groups that end among them with a correct chain value. The
// first chunk holds the record next. On a wrong chain value it returns an error, and the count of chunks before that
// group.
func (k *chainCheck) whole(f *logFile, next events.Sequence, chunks []chunk.Chunk) (whole int, err error) {
	if k.file != f || k.next != next {
		k.file, k.next = f, 0
		if next == f.first {
			if hash, err := f.hashBefore(); err == nil { // an error here is reported by another read
				k.next, k.hash = next, hash
			}
		}
	}
	for i, c := range chunks {
		r, err := c.Reader()
		if err != nil {
			return len(chunks), nil //nolint:nilerr // decoding the records reports the damaged one
		}
		if r.Hash == nil {
			continue
		}
		if err := k.group(f, chunks[whole:i+1], *r.Hash); err != nil {
			return whole, err
		}
		whole = i + 1
	}
	return whole, nil
}

// group verifies the chain over one group, which ends with the chain value stored.
func (k *chainCheck) group(f *logFile, group []chunk.Chunk, stored events.Hash) error {
	hash, end := k.hash, events.Sequence(0)
	for _, c := range group {
		r, err := c.Reader()
		for err == nil && len(r.Rest) > 0 {
			var record []byte
			if r.Next < k.next || k.next == 0 { // the reader began inside a block
				err = r.Skip()
			} else if record, _, err = r.Record(); err == nil {
				hash, err = hash.Next(record)
			}
		}
		if err != nil {
			k.next = 0
			return nil //nolint:nilerr // see above
		}
		end = r.Next
	}
	if k.next != 0 && hash != stored {
		return f.corrupt(group[0].First, fmt.Errorf("the chain value behind record %d is %s, the records give %s", end-1, stored, hash))
	}
	k.next, k.hash = end, stored
	return nil
}

package boltlog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

// chainCheck verifies the hash chain (each record's chain value is a hash over all records before it) for a reader of
// consecutive records. It finds a record that was rewritten with a valid checksum before a caller gets it. For that,
// the reader must have begun in an earlier commit group (the records of one commit), or at the beginning of the file.
type chainCheck struct {
	file *logFile
	// The field hash is the chain value before this record (a hash over all earlier records); 0: hash is not set
	next events.Sequence
	hash events.Hash
}

// whole returns how many of the chunks belong to complete commit groups (each: the records of one commit) with a
// correct chain value (hash over all records so far). next is a record in the first chunk. On a wrong chain value whole
// returns an error, and the number of chunks before the wrong group.
func (k *chainCheck) whole(f *logFile, next events.Sequence, chunks []chunk.Chunk) (whole int, err error) {
	if k.file != f || k.next != next {
		k.file, k.next = f, 0
		if next == f.first {
			if hash, err := f.hashBefore(); err == nil { // if this fails, the read of the records will report why
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

// group computes the hash chain over the chunks of one commit group (the records of one commit), and compares it with
// stored, the chain value that the file has for the end of the group.
func (k *chainCheck) group(f *logFile, group []chunk.Chunk, stored events.Hash) error {
	hash, end := k.hash, events.Sequence(0)
	for _, c := range group {
		r, err := c.Reader()
		for err == nil && len(r.Rest) > 0 {
			var record []byte
			// hash already covers this record, or no hash is known yet: skip it
			if r.Next < k.next || k.next == 0 {
				err = r.Skip()
			} else if record, _, err = r.Record(); err == nil {
				hash, err = hash.Next(record)
			}
		}
		if err != nil {
			k.next = 0
			return nil //nolint:nilerr // decoding the records reports the damaged one
		}
		end = r.Next
	}
	if k.next != 0 && hash != stored {
		return f.corrupt(group[0].First, fmt.Errorf("the chain value behind record %d is %s, the records give %s", end-1, stored, hash))
	}
	k.next, k.hash = end, stored
	return nil
}

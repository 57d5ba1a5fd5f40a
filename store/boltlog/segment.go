package boltlog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// EncodeSegment lays records out as one block of a packed file: whole batches, as they are stored, and the chain value
// after the last.
func EncodeSegment(first events.Sequence, stored [][]byte, after events.Hash) ([]byte, error) {
	w, err := newBlockWriter()
	if err != nil {
		return nil, err
	}
	for i, one := range stored {
		w.add(first+events.Sequence(i), one)
	}
	return w.end(&after).value, w.encoder.Close()
}

// DecodeSegment takes a block of whole batches apart. It checks its checksum, that each record is the one behind that
// before it, that the last ends a batch, and the chain from the value before the first record to the one that the block
// ends with.
func DecodeSegment(first events.Sequence, before events.Hash, value []byte) (stored [][]byte, after events.Hash, err error) {
	if len(value) == 0 || value[0] != blockVersion|chunkEndsGroup {
		return nil, after, errBlock
	}
	c, err := chunk{first: first, value: value}.unpacked()
	if err != nil {
		return nil, after, err
	}
	next, hash := first, before
	end, err := c.scan(&next, false, func(l events.Label, one []byte) error {
		stored = append(stored, one)
		hash, err = hash.Next(one)
		return err
	})
	switch {
	case err != nil:
		return nil, after, err
	case !end.batch:
		return nil, after, fmt.Errorf("%w: its last record %d ends no batch", errBlock, next-1)
	case end.group == nil || *end.group != hash:
		return nil, after, fmt.Errorf("%w: the records from %d to %d do not go on from the ones before", errBlock, first, next-1)
	}
	return stored, hash, nil
}

package boltlog

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

// EncodeSegment encodes records as one compressed block, in the form that packed (compressed) log files use. stored are
// the bytes of whole batches, the first record being first; after is the chain value (hash over all records so far)
// after the last one.
func EncodeSegment(first events.Sequence, stored [][]byte, after events.Hash) ([]byte, error) {
	w, err := chunk.NewBlockWriter()
	if err != nil {
		return nil, err
	}
	for i, one := range stored {
		w.Add(first+events.Sequence(i), one)
	}
	return w.End(&after).Value, w.Close()
}

// DecodeSegment decodes a block made by EncodeSegment. first is its first record, and before the chain value (hash over
// all records so far) before it. It returns the records and the chain value after them. It verifies the checksum, the
// sequences, the end mark of the last record, and the chain from before to the stored value.
func DecodeSegment(first events.Sequence, before events.Hash, value []byte) (stored [][]byte, after events.Hash, err error) {
	if len(value) == 0 || value[0] != chunk.BlockVersion|chunk.EndsGroup {
		return nil, after, chunk.ErrBlock
	}
	c, err := chunk.Chunk{First: first, Value: value}.Unpacked()
	if err != nil {
		return nil, after, err
	}
	next, hash := first, before
	end, err := scanChunk(c, &next, false, func(l events.Label, one []byte) error {
		stored = append(stored, one)
		hash, err = hash.Next(one)
		return err
	})
	switch {
	case err != nil:
		return nil, after, err
	case !end.batch:
		return nil, after, fmt.Errorf("%w: its last record %d ends no batch", chunk.ErrBlock, next-1)
	case end.group == nil || *end.group != hash:
		return nil, after, fmt.Errorf("%w: the records from %d to %d do not go on from the ones before", chunk.ErrBlock, first, next-1)
	}
	return stored, hash, nil
}

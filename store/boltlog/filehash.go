package boltlog

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"os"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// recordSum hashes the records of a file as they are stored, with the chain value before the first and behind the last. A plain file
// and its packed form have the same sum, and so have two disks with other pages. The chain alone would not do: it does not run over
// every byte of a record.
//
//	SHA-256( chain before ‖ 8 bytes length, big endian ‖ record ‖ … ‖ chain behind )
type recordSum struct{ hash.Hash }

func newRecordSum(before events.Hash) recordSum {
	s := recordSum{sha256.New()}
	_, _ = s.Write(before[:]) // never fails, here and below
	return s
}

func (s recordSum) add(stored []byte) {
	var length [8]byte
	_, _ = s.Write(binary.BigEndian.AppendUint64(length[:0], uint64(len(stored))))
	_, _ = s.Write(stored)
}

func (s recordSum) end(behind events.Hash) (sum events.Hash) {
	_, _ = s.Write(behind[:])
	s.Sum(sum[:0])
	return sum
}

// recordsHash reads a sealed file through, with its chain, and gives the sum of its records. The error is ErrCorrupt when the file is
// damaged.
func (f *logFile) recordsHash(ctx context.Context) (events.Hash, error) {
	before, err := f.hashBefore()
	if err != nil {
		return events.Hash{}, f.explain(f.first, err)
	}
	end, err := f.sealedHead()
	if err != nil {
		return events.Hash{}, err
	}
	sum := newRecordSum(before)
	err = f.chained(end.Head, func(_ events.Label, stored []byte, _ events.Hash) error {
		sum.add(stored)
		return ctx.Err()
	})
	if err != nil {
		return events.Hash{}, err
	}
	return sum.end(end.Hash), nil
}

// condemn is what a Pruned record says of the file. A file that is damaged has no hash there, as its records cannot all be read: it goes
// all the same. From here on the file is not packed, so its size stays the one that the record names.
func (f *logFile) condemn(ctx context.Context) (events.PrunedFile, error) {
	f.mu.Lock()
	f.condemned = true
	f.mu.Unlock()
	out := events.PrunedFile{First: f.first}
	info, err := os.Lstat(f.path)
	if err != nil {
		return out, err
	}
	out.Bytes = uint64(info.Size())
	if out.Hash, err = f.recordsHash(ctx); errors.Is(err, store.ErrCorrupt) {
		return out, nil
	}
	return out, err
}

package boltlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/jobledger/jobledger/events"
)

// Records are stored in chunks, so that a page holds many of them and a commit rewrites few. A chunk never spans two
// commit groups; the last one of a group ends with the chain value after its last record.
//
//	key:    8 bytes  sequence of the first record, big endian
//	value:  1 byte   version; with the high bit set when the chunk ends its group
//	        records  uvarint length, 0 for the last one, which takes the rest; 4 bytes CRC-32C; the stored form
//	        32 bytes chain value, when the chunk ends its group
const (
	chunkVersion    = 3 // 0 is invalid: an unwritten byte must never look like a chunk. 1 and 2 were used before the first release
	chunkEndsGroup  = 0x80
	chunkHeader     = 1
	chunkBytes      = 2016 // without the chain value; more only when a single record is larger. Two fill a page: see below
	hashBytes       = len(events.Hash{})
	maxRecordBytes  = 64 << 20 // what a length may claim; more is damage
	sequenceKeySize = 8
)

// A page of 4096 bytes has 16 of header, and each chunk in it an element of 16 and a key of 8: (4096-16)/2-24 = 2016.
// With 2000, which is as good for small groups, groups of 1000 take 1.125 times their payload instead of 1.082.

func sequenceKey(s events.Sequence) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, sequenceKeySize), uint64(s))
}

func keySequence(key []byte) (events.Sequence, error) {
	if len(key) != sequenceKeySize {
		return 0, fmt.Errorf("a chunk's key has %d bytes", len(key))
	}
	return events.Sequence(binary.BigEndian.Uint64(key)), nil
}

// chunk is one chunk as it is stored; value is the holder's own copy.
type chunk struct {
	first events.Sequence
	value []byte
}

// chunkWriter lays the records of one group out in chunks.
type chunkWriter struct {
	chunks []chunk
	first  events.Sequence // of the chunk being filled, whose records these are
	size   int
	filled [][]byte
}

func (w *chunkWriter) add(s events.Sequence, stored []byte) {
	size := (bits.Len(uint(len(stored)))+6)/7 + crc32.Size + len(stored)
	if len(w.filled) > 0 && w.size+size > chunkBytes {
		w.close(nil)
	}
	if len(w.filled) == 0 {
		w.first, w.size = s, chunkHeader
	}
	w.filled, w.size = append(w.filled, stored), w.size+size
}

// close finishes a chunk; with the chain value when its group ends there.
func (w *chunkWriter) close(end []byte) {
	v := append(make([]byte, 0, w.size+len(end)), chunkVersion)
	if end != nil {
		v[0] |= chunkEndsGroup
	}
	for i, stored := range w.filled {
		size := len(stored)
		if i == len(w.filled)-1 {
			size = 0
		}
		v = binary.AppendUvarint(v, uint64(size))
		v = binary.LittleEndian.AppendUint32(v, crc32.Checksum(stored, castagnoli))
		v = append(v, stored...)
	}
	w.chunks = append(w.chunks, chunk{first: w.first, value: append(v, end...)})
	w.filled = w.filled[:0]
}

// end closes the group with the chain value after its last record, and gives its chunks.
func (w *chunkWriter) end(h events.Hash) []chunk {
	if len(w.filled) > 0 {
		w.close(h[:])
	}
	return w.chunks
}

var errChunk = errors.New("a chunk is malformed")

// chunkReader takes a chunk apart, record by record. The chunk is plain or unpacked.
type chunkReader struct {
	next events.Sequence // of the record that comes next
	rest []byte
	hash *events.Hash // the chain value at the end of the chunk; nil when its group goes on
	bare bool         // the records have no checksums of their own: that of their block held
}

func (c chunk) reader() (chunkReader, error) {
	r := chunkReader{next: c.first}
	v := c.value
	if len(v) <= chunkHeader {
		return r, errChunk
	}
	switch version := v[0] &^ chunkEndsGroup; version {
	case chunkVersion:
	case blockVersion:
		r.bare = true
	default:
		return r, fmt.Errorf("%w: its version is %d, and this program knows %d and %d", errChunk, version, chunkVersion, blockVersion)
	}
	ends := v[0]&chunkEndsGroup != 0
	v = v[chunkHeader:]
	if ends {
		if len(v) <= hashBytes {
			return r, errChunk
		}
		h := events.Hash(v[len(v)-hashBytes:])
		r.hash, v = &h, v[:len(v)-hashBytes]
	}
	r.rest = v
	return r, nil
}

// skip passes over a record without looking into it.
func (r *chunkReader) skip() error {
	_, _, err := r.cut()
	return err
}

// cut takes the next record off the rest.
func (r *chunkReader) cut() (stored []byte, sum uint32, err error) {
	size, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return nil, 0, errChunk
	}
	left := r.rest[n:]
	if !r.bare {
		if len(left) < crc32.Size {
			return nil, 0, errChunk
		}
		sum, left = binary.LittleEndian.Uint32(left), left[crc32.Size:]
	}
	if size == 0 {
		size = uint64(len(left))
	}
	if size == 0 || size > maxRecordBytes || size > uint64(len(left)) {
		return nil, 0, errChunk
	}
	r.rest = left[size:]
	r.next++
	return left[:size:size], sum, nil
}

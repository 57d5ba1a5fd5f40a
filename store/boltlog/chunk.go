package boltlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/fields"
)

// Records are stored in chunks, so that a page holds many records and a commit rewrites few. A chunk never spans two
// commit groups. The last chunk of a group ends with the chain value after its last record.
//
//	key:    8 bytes  sequence of the first record, big endian
//	value:  1 byte   version; the high bit is set when the chunk ends its group
//	        records  uvarint length, 0 for the last record, which takes the rest; 4 bytes CRC-32C; the stored form
//	        32 bytes chain value, when the chunk ends its group
const (
	// 0 is invalid: an unwritten byte must never look like a chunk. 1 and 2 are from before the first release
	chunkVersion   = 3
	chunkEndsGroup = 0x80
	chunkHeader    = 1
	// Size without the chain value; only a chunk of a single record is larger. Two fill a page: see below
	chunkBytes      = 2016
	hashBytes       = len(events.Hash{})
	maxRecordBytes  = 64 << 20 // limit of a record's claimed length; more is damage
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

// chunk is a chunk in stored form. value is a copy that belongs to the holder.
type chunk struct {
	first events.Sequence
	value []byte
}

// chunkWriter encodes the records of one group as chunks.
type chunkWriter struct {
	chunks []chunk
	first  events.Sequence // first record of the chunk being filled
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

// close finishes a chunk. end is the chain value if the chunk ends its group, else nil.
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
		v = binary.LittleEndian.AppendUint32(v, crc32.Checksum(stored, fields.Castagnoli))
		v = append(v, stored...)
	}
	w.chunks = append(w.chunks, chunk{first: w.first, value: append(v, end...)})
	w.filled = w.filled[:0]
}

// end finishes the group with the chain value after its last record, and returns its chunks.
func (w *chunkWriter) end(h events.Hash) []chunk {
	if len(w.filled) > 0 {
		w.close(h[:])
	}
	return w.chunks
}

var errChunk = errors.New("a chunk is malformed")

// chunkReader decodes a chunk record by record. The chunk is plain or unpacked.
type chunkReader struct {
	next events.Sequence // sequence of the next record
	rest []byte
	hash *events.Hash // chain value at the end of the chunk; nil when its group goes on
	bare bool         // records have no checksums: that of their block was verified
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

// skip skips the next record.
func (r *chunkReader) skip() error {
	_, _, err := r.cut()
	return err
}

// cut removes the next record from rest and returns it with its checksum, unverified.
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

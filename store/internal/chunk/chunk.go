package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/fields"
)

// Records are stored in chunks, so that a page has many records and a commit rewrites few. A chunk never spans two
// commit groups (the records of one commit). The last chunk of a group ends with the chain value (hash over all records
// so far) after its last record.
//
//	key:    8 bytes  sequence of the first record, big endian
//	value:  1 byte   version; the high bit is set when the chunk ends its group
//	        records  uvarint length, 0 for the last record, which takes the rest; 4 bytes CRC-32C; the stored form
//	        32 bytes chain value, when the chunk ends its group
const (
	// EndsGroup is the bit of the version byte that is set if a commit group (the records of one commit) ends with the
	// chunk.
	EndsGroup = 0x80
	// MaxRecordBytes is the limit for the length that a record claims; a larger claim is damage.
	MaxRecordBytes = 64 << 20

	// 0 is invalid: an unwritten byte must never look like a chunk. 1 and 2 are from before the first release.
	plain  = 3
	header = 1
	// Maximum size of a chunk without the chain value (hash over all records so far). Only a chunk with a single record
	// may be larger. Two chunks fill a page (see the computation below).
	chunkBytes      = 2016
	hashBytes       = len(events.Hash{})
	sequenceKeySize = 8
)

// A page of 4096 bytes has a header of 16, and for each chunk an element of 16 and a key of 8: (4096-16)/2-24 = 2016.
// With 2000 instead of 2016, commit groups of 1000 records would take 1.125 times their payload instead of 1.082; for
// small groups there is no difference.

// Key returns the key under which the chunk that begins with record s is stored.
func Key(s events.Sequence) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, sequenceKeySize), uint64(s))
}

// Sequence returns the first record of the chunk that is stored under a key.
func Sequence(key []byte) (events.Sequence, error) {
	if len(key) != sequenceKeySize {
		return 0, fmt.Errorf("a chunk's key has %d bytes", len(key))
	}
	return events.Sequence(binary.BigEndian.Uint64(key)), nil
}

// Chunk is a stored group of records: First is its first record, Value its bytes, which the owner of the Chunk may
// keep.
type Chunk struct {
	First events.Sequence
	Value []byte
}

// Writer encodes the records of one commit group (the records of one commit) as chunks.
type Writer struct {
	chunks []Chunk
	first  events.Sequence // first record of the current chunk
	size   int
	filled [][]byte
}

// Add adds the next record of the group. s is its sequence, stored its bytes.
func (w *Writer) Add(s events.Sequence, stored []byte) {
	size := (bits.Len(uint(len(stored)))+6)/7 + crc32.Size + len(stored)
	if len(w.filled) > 0 && w.size+size > chunkBytes {
		w.close(nil)
	}
	if len(w.filled) == 0 {
		w.first, w.size = s, header
	}
	w.filled, w.size = append(w.filled, stored), w.size+size
}

// close completes the current chunk. If the group ends with it, end is the chain value (hash over all records so far);
// otherwise nil.
func (w *Writer) close(end []byte) {
	v := append(make([]byte, 0, w.size+len(end)), plain)
	if end != nil {
		v[0] |= EndsGroup
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
	w.chunks = append(w.chunks, Chunk{First: w.first, Value: append(v, end...)})
	w.filled = w.filled[:0]
}

// End completes the group and returns its chunks. h is the chain value (hash over all records so far) after the last
// record.
func (w *Writer) End(h events.Hash) []Chunk {
	if len(w.filled) > 0 {
		w.close(h[:])
	}
	return w.chunks
}

// ErrChunk is the error when a chunk cannot be divided into records.
var ErrChunk = errors.New("a chunk is malformed")

// Reader decodes the records of a chunk one by one. The chunk must be a plain one or the result of Unpacked.
type Reader struct {
	Next events.Sequence // sequence of the next record
	Rest []byte
	Hash *events.Hash // chain value (hash over all records so far) after the chunk; nil unless a commit ends with it
	bare bool         // the records have no checksums, because the chunk was a block with one checksum
}

// Reader returns a Reader at the first record of the chunk.
func (c Chunk) Reader() (Reader, error) {
	r := Reader{Next: c.First}
	v := c.Value
	if len(v) <= header {
		return r, ErrChunk
	}
	switch version := v[0] &^ EndsGroup; version {
	case plain:
	case BlockVersion:
		r.bare = true
	default:
		return r, fmt.Errorf("%w: its version is %d, and this program knows %d and %d", ErrChunk, version, plain, BlockVersion)
	}
	ends := v[0]&EndsGroup != 0
	v = v[header:]
	if ends {
		if len(v) <= hashBytes {
			return r, ErrChunk
		}
		h := events.Hash(v[len(v)-hashBytes:])
		r.Hash, v = &h, v[:len(v)-hashBytes]
	}
	r.Rest = v
	return r, nil
}

// Skip skips the next record.
func (r *Reader) Skip() error {
	_, _, err := r.cut()
	return err
}

// cut removes the next record from Rest. It returns the record and its checksum, which is not verified yet.
func (r *Reader) cut() (stored []byte, sum uint32, err error) {
	size, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		return nil, 0, ErrChunk
	}
	left := r.Rest[n:]
	if !r.bare {
		if len(left) < crc32.Size {
			return nil, 0, ErrChunk
		}
		sum, left = binary.LittleEndian.Uint32(left), left[crc32.Size:]
	}
	if size == 0 {
		size = uint64(len(left))
	}
	if size == 0 || size > MaxRecordBytes || size > uint64(len(left)) {
		return nil, 0, ErrChunk
	}
	r.Rest = left[size:]
	r.Next++
	return left[:size:size], sum, nil
}

// Record returns the next record in stored form, as a slice of the chunk; ok is false at the end. It verifies the
// record's checksum, unless the chunk comes from a block, whose checksum was verified already.
func (r *Reader) Record() (stored []byte, ok bool, err error) {
	if len(r.Rest) == 0 {
		return nil, false, nil
	}
	stored, sum, err := r.cut()
	if err == nil && !r.bare && crc32.Checksum(stored, fields.Castagnoli) != sum {
		err = fields.ErrChecksum
	}
	return stored, err == nil, err
}

package boltlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/jobledger/jobledger/events"
)

// Records are stored in chunks, so that a page holds many of them and a commit rewrites few. A chunk never spans two
// commit groups; the last one of a group ends with the chain value after its last record.
//
//	key:    8 bytes  sequence of the first record, big endian
//	value:  1 byte   version
//	        1 byte   1 when the chunk ends its group, else 0
//	        records  uvarint length, 4 bytes CRC-32C of the stored form, the stored form
//	        32 bytes chain value, when the chunk ends its group
const (
	chunkVersion    = 1 // 0 is invalid: an unwritten byte must never look like a chunk
	chunkHeader     = 2
	chunkBytes      = 2000 // a chunk holds more only when a single record is larger
	chunkEndsGroup  = 1
	recordOverhead  = 3 + crc32.Size // length, up to 2 MiB, and checksum
	hashBytes       = len(events.Hash{})
	maxRecordBytes  = 64 << 20 // what a length may claim; more is damage
	sequenceKeySize = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
	open   chunk // the one being filled; without value when there is none
}

func (w *chunkWriter) add(s events.Sequence, stored []byte) {
	if w.open.value != nil && len(w.open.value)+recordOverhead+len(stored)+hashBytes > chunkBytes {
		w.close()
	}
	if w.open.value == nil {
		room := max(chunkBytes, chunkHeader+recordOverhead+len(stored)+hashBytes)
		w.open = chunk{first: s, value: append(make([]byte, 0, room), chunkVersion, 0)}
	}
	v := binary.AppendUvarint(w.open.value, uint64(len(stored)))
	v = binary.LittleEndian.AppendUint32(v, crc32.Checksum(stored, castagnoli))
	w.open.value = append(v, stored...)
}

func (w *chunkWriter) close() {
	w.chunks = append(w.chunks, w.open)
	w.open = chunk{}
}

// end closes the group with the chain value after its last record, and gives its chunks.
func (w *chunkWriter) end(h events.Hash) []chunk {
	if w.open.value != nil {
		w.open.value[1] = chunkEndsGroup
		w.open.value = append(w.open.value, h[:]...)
		w.close()
	}
	return w.chunks
}

var (
	errChecksum = errors.New("its checksum does not match")
	errChunk    = errors.New("a chunk is malformed")
)

// chunkReader takes a chunk apart, record by record.
type chunkReader struct {
	next events.Sequence // of the record that comes next
	rest []byte
	hash *events.Hash // the chain value at the end of the chunk; nil when its group goes on
}

func (c chunk) reader() (chunkReader, error) {
	r := chunkReader{next: c.first}
	v := c.value
	if len(v) <= chunkHeader || v[0] != chunkVersion || v[1]&^chunkEndsGroup != 0 {
		return r, errChunk
	}
	v, ends := v[chunkHeader:], v[1] == chunkEndsGroup
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

// record gives the next record in stored form, as a slice of the chunk; ok is false at the end. Its checksum held.
func (r *chunkReader) record() (stored []byte, ok bool, err error) {
	if len(r.rest) == 0 {
		return nil, false, nil
	}
	size, n := binary.Uvarint(r.rest)
	if n <= 0 || size == 0 || size > maxRecordBytes || uint64(len(r.rest)-n) < crc32.Size+size {
		return nil, false, errChunk
	}
	sum := binary.LittleEndian.Uint32(r.rest[n:])
	stored = r.rest[n+crc32.Size:][:size:size]
	if crc32.Checksum(stored, castagnoli) != sum {
		return nil, false, errChecksum
	}
	r.rest = r.rest[n+crc32.Size+int(size):]
	r.next++
	return stored, true, nil
}

// skip passes over a record without looking into it.
func (r *chunkReader) skip() error {
	size, n := binary.Uvarint(r.rest)
	if n <= 0 || size == 0 || size > maxRecordBytes || uint64(len(r.rest)-n) < crc32.Size+size {
		return errChunk
	}
	r.rest = r.rest[n+crc32.Size+int(size):]
	r.next++
	return nil
}

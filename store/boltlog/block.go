package boltlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/fields"
)

// A block is a chunk of a packed file: the compressed records of many plain chunks. It ends between two batches, with
// the chain value after them. Only a block of a very large batch may end inside it, without a chain value.
//
//	key:    8 bytes  sequence of the first record, big endian
//	value:  1 byte   version 4; the high bit is set when a chain value follows
//	        uvarint  bytes of the records before compression
//	        32 bytes chain value after the last record, if the bit is set
//	        …        a zstd frame of the records, each after its length as uvarint; the last has length 0 and takes
//	                 the rest
//	        4 bytes  CRC-32C of all bytes before, little endian
const (
	blockVersion = 4
	blockRecords = 64 << 10         // a block ends at this many bytes of records, at the end of a batch
	blockLimit   = 4 * blockRecords // a block ends at this many bytes in any case
)

// blockWriter encodes one block after the other.
type blockWriter struct {
	encoder *zstd.Encoder
	first   events.Sequence
	last    int // offset in records of the length of the last record
	records []byte
	value   []byte
}

func newBlockWriter() (*blockWriter, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(blockRecords),
		zstd.WithLowerEncoderMem(true))
	return &blockWriter{encoder: encoder}, err
}

func (w *blockWriter) add(s events.Sequence, stored []byte) {
	if len(w.records) == 0 {
		w.first = s
	}
	w.last = len(w.records)
	w.records = append(binary.AppendUvarint(w.records, uint64(len(stored))), stored...)
}

// end returns the block of the added records, with the chain value hash unless it is nil. The result is valid until the
// next call of end.
func (w *blockWriter) end(hash *events.Hash) chunk {
	v := append(w.value[:0], blockVersion)
	if hash != nil {
		v[0] |= chunkEndsGroup
	}
	_, n := binary.Uvarint(w.records[w.last:])
	w.records = slices.Replace(w.records, w.last, w.last+n, 0)
	v = binary.AppendUvarint(v, uint64(len(w.records)))
	if hash != nil {
		v = append(v, hash[:]...)
	}
	w.value = fields.Seal(w.encoder.EncodeAll(w.records, v))
	w.records = w.records[:0]
	return chunk{first: w.first, value: w.value}
}

// Decoding a block keeps no state between calls, so all readers share one decoder.
var blockDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlockRecords))
})

const maxBlockRecords = 2 * maxRecordBytes // limit of a block's claimed size; more is damage

var errBlock = errors.New("a block of records is malformed")

// unpacked returns a copy of the chunk in the form that chunkReader reads. For a block it verifies the checksum and
// decompresses the records.
func (c chunk) unpacked() (chunk, error) {
	if len(c.value) == 0 || c.value[0]&^chunkEndsGroup != blockVersion {
		return chunk{first: c.first, value: bytes.Clone(c.value)}, nil
	}
	n := len(c.value) - crc32.Size
	if n < chunkHeader || crc32.Checksum(c.value[:n], fields.Castagnoli) != binary.LittleEndian.Uint32(c.value[n:]) {
		return chunk{}, fields.ErrChecksum
	}
	d := fields.Decoder{Rest: c.value[chunkHeader:n]}
	size := d.Uvarint()
	var hash []byte
	if c.value[0]&chunkEndsGroup != 0 {
		hash = d.Bytes(hashBytes)
	}
	if d.Bad || size == 0 || size > maxBlockRecords {
		return chunk{}, errBlock
	}
	decoder, err := blockDecoder()
	if err != nil {
		return chunk{}, err
	}
	value := append(make([]byte, 0, chunkHeader+int(size)+len(hash)), c.value[0])
	if value, err = decoder.DecodeAll(d.Rest, value); err != nil {
		return chunk{}, fmt.Errorf("%w: %w", errBlock, err)
	}
	if len(value) != chunkHeader+int(size) {
		return chunk{}, errBlock
	}
	return chunk{first: c.first, value: append(value, hash...)}, nil
}

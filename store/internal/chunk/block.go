package chunk

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

// A block is a chunk in a packed file: the compressed records of many plain chunks. It ends between two batches, with
// the chain value (hash over all records so far) after its last record. Only a batch that is larger than BlockLimit is
// divided into several blocks; such a block has no chain value unless it is the batch's last.
//
//	key:    8 bytes  sequence of the first record, big endian
//	value:  1 byte   version 4; the high bit is set when a chain value follows
//	        uvarint  bytes of the records before compression
//	        32 bytes chain value after the last record, if the bit is set
//	        …        a zstd frame of the records, each after its length as uvarint; the last has length 0 and takes
//	                 the rest
//	        4 bytes  CRC-32C of all bytes before, little endian
const (
	// BlockVersion is the version byte of a block; the version of a plain chunk is 3.
	BlockVersion = 4
	// BlockRecords is the size of a block's records, in bytes, from which on the block ends with the batch. Example:
	// batches of 30 KB give blocks of three batches.
	BlockRecords = 64 << 10
	// BlockLimit is the size of the records, in bytes, at which a block ends even within a batch.
	BlockLimit = 4 * BlockRecords
)

// BlockWriter encodes blocks (many compressed records in one value), one after the other.
type BlockWriter struct {
	encoder *zstd.Encoder
	first   events.Sequence
	last    int // index in records where the length of the last record begins
	records []byte
	value   []byte
}

// NewBlockWriter returns a writer of blocks. The caller must close it.
func NewBlockWriter() (*BlockWriter, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(BlockRecords),
		zstd.WithLowerEncoderMem(true))
	return &BlockWriter{encoder: encoder}, err
}

// Close frees the encoder.
func (w *BlockWriter) Close() error { return w.encoder.Close() }

// Bytes returns the size of the records added since the last block, before compression.
func (w *BlockWriter) Bytes() int { return len(w.records) }

// Add adds a record to the current block. s is its sequence, stored its bytes.
func (w *BlockWriter) Add(s events.Sequence, stored []byte) {
	if len(w.records) == 0 {
		w.first = s
	}
	w.last = len(w.records)
	w.records = append(binary.AppendUvarint(w.records, uint64(len(stored))), stored...)
}

// End returns the block of all records added since the last call of End. If hash is not nil, it is stored as the chain
// value (hash over all records so far) after them. The result is valid until the next call of End.
func (w *BlockWriter) End(hash *events.Hash) Chunk {
	v := append(w.value[:0], BlockVersion)
	if hash != nil {
		v[0] |= EndsGroup
	}
	_, n := binary.Uvarint(w.records[w.last:])
	w.records = slices.Replace(w.records, w.last, w.last+n, 0)
	v = binary.AppendUvarint(v, uint64(len(w.records)))
	if hash != nil {
		v = append(v, hash[:]...)
	}
	w.value = fields.Seal(w.encoder.EncodeAll(w.records, v))
	w.records = w.records[:0]
	return Chunk{First: w.first, Value: w.value}
}

// One decoder serves all goroutines, because it keeps no state between two blocks.
var blockDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlockRecords))
})

const maxBlockRecords = 2 * MaxRecordBytes // limit for the size that a block claims; a larger claim is damage

// ErrBlock is the error when a block has the right checksum, but its content is malformed.
var ErrBlock = errors.New("a block of records is malformed")

// Unpacked returns a copy of the chunk in which Reader can find the records. A plain chunk stays as it is; a block's
// checksum is verified, and its records are decompressed.
func (c Chunk) Unpacked() (Chunk, error) {
	if len(c.Value) == 0 || c.Value[0]&^EndsGroup != BlockVersion {
		return Chunk{First: c.First, Value: bytes.Clone(c.Value)}, nil
	}
	n := len(c.Value) - crc32.Size
	if n < header || crc32.Checksum(c.Value[:n], fields.Castagnoli) != binary.LittleEndian.Uint32(c.Value[n:]) {
		return Chunk{}, fields.ErrChecksum
	}
	d := fields.Decoder{Rest: c.Value[header:n]}
	size := d.Uvarint()
	var hash []byte
	if c.Value[0]&EndsGroup != 0 {
		hash = d.Bytes(hashBytes)
	}
	if d.Bad || size == 0 || size > maxBlockRecords {
		return Chunk{}, ErrBlock
	}
	decoder, err := blockDecoder()
	if err != nil {
		return Chunk{}, err
	}
	value := append(make([]byte, 0, header+int(size)+len(hash)), c.Value[0])
	if value, err = decoder.DecodeAll(d.Rest, value); err != nil {
		return Chunk{}, fmt.Errorf("%w: %w", ErrBlock, err)
	}
	if len(value) != header+int(size) {
		return Chunk{}, ErrBlock
	}
	return Chunk{First: c.First, Value: append(value, hash...)}, nil
}

package joblist

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sort"
)

// A table is a sequence of entries in key order, in blocks of about 16 KiB. Each block has a checksum.
//
// 	block  entries, CRC-32C
// 	entry  uvarint length of the key, the key, uvarint length of the content, the content
// 	where  number of blocks, then for each block its length and the key of its first entry
//
// The footer, at the end of the list's file, holds where of each table.

const blockBytes = 16 << 10 // size from which a block is written, about; an entry that is larger has a block of its own

// item is one entry of a table: a key, and its content as bytes.
type item struct{ key, content []byte }

// tableWriter writes a table (sorted entries in blocks) to out. Entries must be added in ascending order of their keys.
type tableWriter struct {
	out    io.Writer
	block  []byte
	where  []byte
	blocks int
	bytes  int64 // number of bytes written so far
}

func (w *tableWriter) add(key, content []byte) error {
	if len(w.block) > 0 && len(w.block)+len(key)+len(content) > blockBytes {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.block) == 0 {
		w.where = appendText(w.where, key)
	}
	w.block = appendText(appendText(w.block, key), content)
	return nil
}

// flush writes the block with the entries that were added since the last block.
func (w *tableWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	b := seal(w.block)
	if _, err := w.out.Write(b); err != nil {
		return fmt.Errorf("write a list of Jobs: %w", err)
	}
	w.where = binary.AppendUvarint(w.where, uint64(len(b)))
	w.blocks, w.bytes, w.block = w.blocks+1, w.bytes+int64(len(b)), w.block[:0]
	return nil
}

// end writes the last block, and returns the part of the footer with the positions of all blocks.
func (w *tableWriter) end() ([]byte, error) {
	err := w.flush()
	return append(binary.AppendUvarint(nil, uint64(w.blocks)), w.where...), err
}

// table reads a table (sorted entries in blocks) from a file.
type table struct {
	file   io.ReaderAt
	blocks []blockPlace
	found  []byte // buffer with the block that find read last
}

type blockPlace struct {
	first  []byte // key of the block's first entry
	at     int64
	length uint32
}

// openTable returns the table that begins at offset at of the file, and the offset of its end. It decodes the positions
// of the blocks from d, the footer of the list.
func openTable(file io.ReaderAt, at int64, d *decoder) (table, int64) {
	t := table{file: file}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		p := blockPlace{first: d.text(), at: at}
		length := d.uvarint()
		d.bad = d.bad || length > math.MaxUint32 || length < crc32.Size
		p.length = uint32(length)
		at += int64(length)
		t.blocks = append(t.blocks, p)
	}
	return t, at
}

// read reads block i, verifies its checksum, and returns its entries as bytes. It uses the memory of buffer if that is
// large enough.
func (t *table) read(i int, buffer []byte) ([]byte, error) {
	p := t.blocks[i]
	buffer = slices.Grow(buffer[:0], int(p.length))[:p.length]
	if _, err := t.file.ReadAt(buffer, p.at); err != nil {
		// Every error here becomes errMalformed: the caller then reads the records instead of the list, and the Keeper
		// writes the list again.
		return nil, fmt.Errorf("read a list of Jobs: %w: %w", errMalformed, err)
	}
	return unseal(buffer)
}

// split appends the entries in a block to items. The entries share memory with the block.
func split(block []byte, items []item) ([]item, error) {
	for d := (decoder{rest: block}); len(d.rest) > 0; {
		it := item{key: d.text(), content: d.text()}
		if d.bad {
			return nil, errMalformed
		}
		items = append(items, it)
	}
	return items, nil
}

// before returns the index of the last block that may have keys lower than key; -1 if there is none.
func (t *table) before(key []byte) int {
	return sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].first, key) >= 0 }) - 1
}

// find returns the content of the entry with a key; ok is false if there is no such entry, or an error. The content is
// valid until the next call of find.
func (t *table) find(key []byte) (content []byte, ok bool, err error) {
	i := sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].first, key) > 0 }) - 1
	if i < 0 {
		return nil, false, nil
	}
	block, err := t.read(i, t.found)
	if err != nil {
		return nil, false, err
	}
	t.found = block
	for d := (decoder{rest: block}); len(d.rest) > 0; {
		own, content := d.text(), d.text()
		if d.bad {
			return nil, false, errMalformed
		}
		if c := bytes.Compare(own, key); c >= 0 {
			return content, c == 0, nil
		}
	}
	return nil, false, nil
}

// check reads all blocks and verifies their checksums.
func (t *table) check() (err error) {
	var block []byte
	for i := range t.blocks {
		if block, err = t.read(i, block); err != nil {
			return err
		}
	}
	return nil
}

// all yields every entry in key order. It ends after an error.
func (t *table) all(yield func(item, error) bool) {
	for i := range t.blocks {
		block, err := t.read(i, nil)
		var items []item
		if err == nil {
			items, err = split(block, nil)
		}
		if err != nil {
			yield(item{}, err)
			return
		}
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

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

// A table is entries in the order of their keys, in blocks that bear a checksum each:
//
//	block  entries, CRC-32C
//	entry  uvarint length of the key, the key, uvarint length of the content, the content
//	where  count of the blocks, then of each its length and the key of its first entry
//
// What stands where is in the footer of the list.

const blockBytes = 16 << 10 // of entries, about: an entry is not split

// item is an entry of a table.
type item struct{ key, content []byte }

// tableWriter writes entries, whose keys ascend.
type tableWriter struct {
	out    io.Writer
	block  []byte
	where  []byte
	blocks int
	bytes  int64 // written
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

// flush writes the block in the making.
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

// end writes what is left, and gives what the footer says of the table.
func (w *tableWriter) end() ([]byte, error) {
	err := w.flush()
	return append(binary.AppendUvarint(nil, uint64(w.blocks)), w.where...), err
}

// table reads one.
type table struct {
	file   io.ReaderAt
	blocks []blockPlace
	found  []byte // the block in which something was found last
}

type blockPlace struct {
	first  []byte // key
	at     int64
	length uint32
}

// openTable reads from a footer where the blocks of a table are that begins at that place; it gives where the table
// ends.
func openTable(file io.ReaderAt, at int64, d *decoder) (table, int64) {
	t := table{file: file}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		p := blockPlace{first: d.text(), at: at}
		length := d.uvarint()
		if length > math.MaxUint32 || length < crc32.Size {
			d.bad = true
			break
		}
		p.length = uint32(length)
		at += int64(length)
		t.blocks = append(t.blocks, p)
	}
	return t, at
}

// read reads the i-th block into a buffer, or a larger one, and checks it.
func (t *table) read(i int, buffer []byte) ([]byte, error) {
	p := t.blocks[i]
	buffer = slices.Grow(buffer[:0], int(p.length))[:p.length]
	if _, err := t.file.ReadAt(buffer, p.at); err != nil {
		return nil, fmt.Errorf("read a list of Jobs: %w: %w", errMalformed, err) // it is derived: what cannot be read is made again
	}
	return unseal(buffer)
}

// split appends the entries of a block.
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

// before is the last block that may hold keys less than that one; -1 for none.
func (t *table) before(key []byte) int {
	return sort.Search(len(t.blocks), func(i int) bool { return bytes.Compare(t.blocks[i].first, key) >= 0 }) - 1
}

// find gives the content of the entry with that key, which is valid until the next find.
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

// check reads every block.
func (t *table) check() (err error) {
	var block []byte
	for i := range t.blocks {
		if block, err = t.read(i, block); err != nil {
			return err
		}
	}
	return nil
}

// all gives every entry in order, block by block. It ends after an error.
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

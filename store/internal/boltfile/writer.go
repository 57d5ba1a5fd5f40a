package boltfile

import (
	"errors"
	"hash/fnv"
	"io"
)

// Writer writes a complete bbolt file in one pass, in the format of pages.go: full pages, no free pages, no freelist.
// bbolt itself would rewrite pages many times, or keep the whole file in memory.
type Writer struct {
	out      io.WriterAt
	pageSize int
	next     uint64 // ID of the next page
}

// leafBytes is the minimum content of a leaf with overflow pages. Only the last of its pages may be partly filled: with
// 64 KiB and pages of 4 KiB this wastes at most 6 %. A larger value would slow down readers, because a reader of one
// element reads the whole leaf.
const leafBytes = 64 << 10

func NewWriter(out io.WriterAt, pageSize int) *Writer {
	return &Writer{out: out, pageSize: pageSize, next: 2}
}

// Bytes returns the number of bytes written so far.
func (b *Writer) Bytes() int64 { return int64(b.next) * int64(b.pageSize) }

// Item is one element of a page: a key with its value in a leaf page, or a key with the ID of a child page in a branch
// page.
type Item struct {
	Key, Value []byte
	child      uint64
}

func (e Item) size() int { return elementSize + len(e.Key) + len(e.Value) }

// write writes a page with its overflow pages at the end of the file, and returns its ID.
func (b *Writer) write(kind uint16, flags uint32, items []Item) (id uint64, err error) {
	page := encodePage(b.next, kind, flags, items)
	if over := len(page) % b.pageSize; over > 0 {
		page = append(page, make([]byte, b.pageSize-over)...)
	}
	count := len(page) / b.pageSize
	order.PutUint32(page[12:], uint32(count-1))
	if _, err := b.out.WriteAt(page, b.Bytes()); err != nil {
		return 0, err
	}
	id = b.next
	b.next += uint64(count)
	return id, nil
}

func encodePage(id uint64, kind uint16, flags uint32, items []Item) []byte {
	size := pageHeaderSize
	for _, e := range items {
		size += e.size()
	}
	page := make([]byte, pageHeaderSize+len(items)*elementSize, size)
	order.PutUint64(page, id)
	order.PutUint16(page[8:], kind)
	order.PutUint16(page[10:], uint16(len(items)))
	for i, e := range items {
		at := pageHeaderSize + i*elementSize
		element, position := page[at:], uint32(len(page)-at)
		if kind == branchPage {
			order.PutUint32(element, position)
			order.PutUint32(element[4:], uint32(len(e.Key)))
			order.PutUint64(element[8:], e.child)
		} else {
			order.PutUint32(element, flags)
			order.PutUint32(element[4:], position)
			order.PutUint32(element[8:], uint32(len(e.Key)))
			order.PutUint32(element[12:], uint32(len(e.Value)))
		}
		page = append(append(page, e.Key...), e.Value...)
	}
	return page
}

// Bucket builds one bucket. Its keys must be added in ascending order.
type Bucket struct {
	file   *Writer
	leaf   []Item
	bytes  int
	leaves []Item // the leaf pages written so far, as items for the branch page above
}

// NewBucket begins a bucket of the file.
func (b *Writer) NewBucket() Bucket { return Bucket{file: b} }

// Add appends a key and its value. The key must be greater than all keys before. Add copies both.
func (t *Bucket) Add(key, value []byte) error {
	e := Item{Key: append([]byte(nil), key...), Value: append([]byte(nil), value...)}
	t.leaf, t.bytes = append(t.leaf, e), t.bytes+e.size()
	if t.bytes < leafBytes {
		return nil
	}
	return t.flush()
}

func (t *Bucket) flush() error {
	id, err := t.file.write(leafPage, 0, t.leaf)
	if err != nil {
		return err
	}
	t.leaves = append(t.leaves, Item{Key: t.leaf[0].Key, child: id})
	t.leaf, t.bytes = nil, 0
	return nil
}

// End completes the bucket. It returns the value under which the file's root page stores the bucket. A small bucket is
// completely in this value.
func (t *Bucket) End() ([]byte, error) {
	header := make([]byte, bucketSize)
	if len(t.leaves) == 0 && t.bytes <= t.file.pageSize/8 {
		return append(header, encodePage(0, leafPage, 0, t.leaf)...), nil
	}
	if len(t.leaf) > 0 {
		if err := t.flush(); err != nil {
			return nil, err
		}
	}
	level := t.leaves
	for len(level) > 1 {
		var above []Item
		for len(level) > 0 {
			n, size := 0, pageHeaderSize
			for n < len(level) && (n < 2 || size+level[n].size() <= t.file.pageSize) {
				size += level[n].size()
				n++
			}
			id, err := t.file.write(branchPage, 0, level[:n])
			if err != nil {
				return nil, err
			}
			above, level = append(above, Item{Key: level[0].Key, child: id}), level[n:]
		}
		level = above
	}
	order.PutUint64(header, level[0].child)
	return header, nil
}

// End writes the root page and the two meta pages. buckets are all buckets in ascending order of names; transaction is
// the number of the newest transaction.
func (b *Writer) End(buckets []Item, transaction uint64) error {
	root, err := b.write(leafPage, bucketElement, buckets)
	if err != nil {
		return err
	}
	return errors.Join(b.meta(root, transaction&^1), b.meta(root, transaction|1))
}

const noFreelist = ^uint64(0) // no freelist is stored

func (b *Writer) meta(root, transaction uint64) error {
	page := make([]byte, b.pageSize)
	order.PutUint64(page, transaction%2)
	order.PutUint16(page[8:], metaPage)
	m := page[pageHeaderSize:]
	order.PutUint32(m[0:], magic)
	order.PutUint32(m[4:], version)
	order.PutUint32(m[8:], uint32(b.pageSize))
	order.PutUint64(m[16:], root)
	order.PutUint64(m[32:], noFreelist)
	order.PutUint64(m[40:], b.next)
	order.PutUint64(m[48:], transaction)
	sum := fnv.New64a()
	_, _ = sum.Write(m[:metaSize-8])
	order.PutUint64(m[metaSize-8:], sum.Sum64())
	_, err := b.out.WriteAt(page, int64(transaction%2)*int64(b.pageSize))
	return err
}

package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime/debug"
	"sort"
)

// The format is version 2 of bbolt's, in the machine's byte order:
//
//	page    8 bytes id, 2 bytes kind, 2 bytes count, 4 bytes overflow (number of further pages), elements, data
//	meta    4 magic, 4 version, 4 page size, 4 flags, 8 root page, 8 unused, 8 freelist, 8 high-water page,
//	        8 transaction, 8 FNV-64a of the bytes before. There are two, pages 0 and 1; the valid one with the
//	        higher transaction is used
//	branch  elements of 4 bytes position (from the element), 4 bytes key size, 8 bytes child page
//	leaf    elements of 4 bytes flags (1: a bucket), 4 bytes position, 4 bytes key size, 4 bytes value size
//	bucket  8 bytes root page, 8 bytes unused; root page 0: the bucket is inline, and its only page follows
const (
	pageHeaderSize = 16
	elementSize    = 16
	metaSize       = 64
	bucketSize     = 16
	magic          = 0xED0CDAED
	version        = 2
	branchPage     = 1
	leafPage       = 2
	metaPage       = 4
	bucketElement  = 1
	maxDepth       = 24 // a deeper tree would not fit into a file, even with two children per page
)

var order = binary.NativeEndian

// Pages reads the trees of one bbolt file. Meanwhile no transaction may be committed to the file. It is safe for
// concurrent use.
type Pages struct {
	file        io.ReaderAt
	Size        int64 // size of the file
	PageSize    int64
	root        uint64
	freelist    uint64 // page of the freelist; noFreelist for none
	high        uint64 // first page that was never used
	Transaction int64
	Torn        bool // one of the two meta pages is invalid: the last commit was interrupted, or the page is damaged
}

// ErrPage is matched by every error about the content of a damaged page.
var ErrPage = errors.New("a page is damaged")

func pageError(id uint64, format string, args ...any) error {
	return fmt.Errorf("%w: page %d: %s", ErrPage, id, fmt.Sprintf(format, args...))
}

// Open opens f and reads its meta pages.
func Open(f *os.File) (*Pages, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p := &Pages{file: f, Size: info.Size()}
	return p, p.open()
}

// Written reports whether bbolt has committed to the file since it was opened.
func (p *Pages) Written() bool {
	now := &Pages{file: p.file, Size: p.Size}
	return now.open() == nil && (now.root != p.root || now.Transaction != p.Transaction)
}

func (p *Pages) open() error {
	var best *boltMeta
	if m0, ok := p.meta(0); ok {
		best = &m0
	}
	for size := int64(1 << 10); size <= 1<<16; size <<= 1 {
		m1, ok := p.meta(size)
		if !ok || m1.pageSize != size || best != nil && best.pageSize != size {
			continue
		}
		if p.Torn = best == nil; best == nil || m1.transaction > best.transaction {
			best = &m1
		}
		return p.use(best)
	}
	if best == nil {
		return fmt.Errorf("%w: neither meta page is valid in %d bytes", ErrPage, p.Size)
	}
	p.Torn = true
	return p.use(best)
}

type boltMeta struct {
	pageSize, transaction int64
	root, freelist, high  uint64
}

// meta decodes the meta page at an offset of the file. It returns false if the page is invalid.
func (p *Pages) meta(offset int64) (boltMeta, bool) {
	var b [pageHeaderSize + metaSize]byte
	if _, err := p.file.ReadAt(b[:], offset); err != nil {
		return boltMeta{}, false
	}
	m := b[pageHeaderSize:]
	sum := fnv.New64a()
	sum.Write(m[:metaSize-8])
	// The header of the page is not checked, because bbolt does not check it either: this code must not reject a meta
	// page that bbolt would use.
	if order.Uint32(m[0:]) != magic || order.Uint32(m[4:]) != version || order.Uint64(m[metaSize-8:]) != sum.Sum64() {
		return boltMeta{}, false
	}
	return boltMeta{
		pageSize: int64(order.Uint32(m[8:])), root: order.Uint64(m[16:]), freelist: order.Uint64(m[32:]), high: order.Uint64(m[40:]),
		transaction: int64(order.Uint64(m[48:])),
	}, true
}

func (p *Pages) use(m *boltMeta) error {
	if m.pageSize < 1<<10 || m.pageSize > 1<<16 || m.pageSize&(m.pageSize-1) != 0 || m.high > 1<<40 {
		return fmt.Errorf("%w: the meta page claims %d pages of %d bytes", ErrPage, m.high, m.pageSize)
	}
	p.PageSize, p.root, p.freelist, p.high, p.Transaction = m.pageSize, m.root, m.freelist, m.high, m.transaction
	return nil
}

// Bytes returns the size of the part of the file that is in use.
func (p *Pages) Bytes() int64 { return int64(p.high) * p.PageSize }

// Truncated reports whether the file ends before its last page in use.
func (p *Pages) Truncated() bool { return p.Bytes() > p.Size }

// page is a page including its overflow pages. All its elements lie within data.
type page struct {
	kind  uint16
	count int
	data  []byte // the page's bytes, including the header
}

// page reads the page with this id, with its overflow pages. space is used as the buffer if it is large enough.
func (p *Pages) page(id uint64, space []byte) (page, error) {
	if id < 2 || id >= p.high {
		return page{}, pageError(id, "it is outside the %d pages of the file", p.high)
	}
	data := space
	if int64(len(data)) != p.PageSize {
		data = make([]byte, p.PageSize)
	}
	if _, err := p.file.ReadAt(data, int64(id)*p.PageSize); err != nil {
		return page{}, readError(id, err)
	}
	length := uint64(order.Uint32(data[12:])) + 1
	if order.Uint64(data) != id || length > p.high-id {
		return page{}, pageError(id, "its header says page %d, %d pages long", order.Uint64(data), length)
	}
	if length > 1 {
		data = make([]byte, int64(length)*p.PageSize)
		if _, err := p.file.ReadAt(data, int64(id)*p.PageSize); err != nil {
			return page{}, readError(id, err)
		}
	}
	return parsePage(id, data)
}

func readError(id uint64, err error) error {
	if errors.Is(err, io.EOF) {
		return pageError(id, "the file ends before it does")
	}
	return fmt.Errorf("read page %d: %w", id, err)
}

func parsePage(id uint64, data []byte) (page, error) {
	if len(data) < pageHeaderSize {
		return page{}, pageError(id, "it is %d bytes long", len(data))
	}
	g := page{kind: order.Uint16(data[8:]), count: int(order.Uint16(data[10:])), data: data}
	if g.kind != branchPage && g.kind != leafPage {
		return page{}, pageError(id, "its kind is %#x", g.kind)
	}
	if pageHeaderSize+g.count*elementSize > len(data) || g.kind == branchPage && g.count == 0 {
		return page{}, pageError(id, "it claims %d elements", g.count)
	}
	var before []byte
	for i := range g.count {
		key, _, ok := g.slices(i)
		if !ok {
			return page{}, pageError(id, "element %d lies outside it", i)
		}
		if i > 0 && bytes.Compare(before, key) >= 0 {
			return page{}, pageError(id, "element %d is out of order", i)
		}
		before = key
	}
	return g, nil
}

// slices returns key and value of element i. ok is false if they lie outside the page's data.
func (g page) slices(i int) (key, value []byte, ok bool) {
	at := uint64(pageHeaderSize + i*elementSize)
	e := g.data[at:]
	position, keySize, valueSize := uint64(order.Uint32(e)), uint64(order.Uint32(e[4:])), uint64(0)
	if g.kind == leafPage {
		position, keySize, valueSize = uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
	}
	start := at + position
	if start < uint64(pageHeaderSize+g.count*elementSize) && keySize+valueSize > 0 || start+keySize+valueSize > uint64(len(g.data)) {
		return nil, nil, false
	}
	d := g.data[start:]
	return d[:keySize:keySize], d[keySize:][:valueSize:valueSize], true
}

func (g page) key(i int) []byte { k, _, _ := g.slices(i); return k }

func (g page) value(i int) []byte { _, v, _ := g.slices(i); return v }

func (g page) child(i int) uint64 {
	return order.Uint64(g.data[pageHeaderSize+i*elementSize+8:])
}

func (g page) isBucket(i int) bool {
	return order.Uint32(g.data[pageHeaderSize+i*elementSize:])&bucketElement != 0
}

// atOrBefore returns the index of the last element whose key is key or comes before it; -1 if there is none.
func (g page) atOrBefore(key []byte) int {
	return sort.Search(g.count, func(i int) bool { return bytes.Compare(g.key(i), key) > 0 }) - 1
}

// fits returns an error unless all keys of the child page lie in the range that the branch pages above it allow. id is
// the child's page.
func (c *Cursor) fits(id uint64, child page) error {
	if len(c.path) == 0 {
		return nil
	}
	if child.count == 0 {
		return pageError(id, "it is empty below a branch")
	}
	first, last := child.key(0), child.key(child.count-1)
	parent := c.path[len(c.path)-1]
	if bytes.Compare(first, parent.page.key(parent.at)) < 0 {
		return pageError(id, "its first key lies before its place")
	}
	for i := len(c.path) - 1; i >= 0; i-- {
		if s := c.path[i]; s.at+1 < s.page.count {
			if bytes.Compare(last, s.page.key(s.at+1)) >= 0 {
				return pageError(id, "its last key lies behind its place")
			}
			break
		}
	}
	return nil
}

func (c *Cursor) here() (k, v []byte, err error) {
	top := c.path[len(c.path)-1]
	if top.page.count == 0 {
		c.path = nil
		return nil, nil, nil
	}
	if top.page.isBucket(top.at) != c.tree.isRoot {
		return nil, nil, fmt.Errorf("%w: a bucket is not where one belongs", ErrPage)
	}
	k, v = top.page.key(top.at), top.page.value(top.at)
	if len(c.last) > 0 && bytes.Compare(c.last, k) >= 0 {
		return nil, nil, fmt.Errorf("%w: key %x comes after %x", ErrPage, k, c.last)
	}
	c.last = append(c.last[:0], k...)
	return k, v, nil
}

// Guard runs fn, and turns a panic or memory fault in bbolt into an error. Such a fault can occur if a page is damaged
// after it was checked.
func Guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: bbolt: %v", ErrPage, r)
		}
	}()
	return fn()
}

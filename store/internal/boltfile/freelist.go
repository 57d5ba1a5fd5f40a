package boltfile

import "fmt"

// A meta page may refer to a freelist, a page that lists free pages. Our files have none (noFreelist), and bbolt
// computes the free pages at the open. But if a meta page refers to a freelist, bbolt trusts it, and would overwrite
// pages in use that are in the list. So such a freelist is compared with the pages in use before bbolt opens the file.
//
//	page    as in pages.go, kind 16; count 65535: the first 8 bytes are the count
//	        8 bytes id of each free page, ascending
const (
	freelistPage = 16
	manyFree     = 1<<16 - 1
)

// checkFreelist returns an error if the meta page refers to a freelist (a page that lists free pages) that is invalid,
// or that lists a page in use. It returns nil if there is no freelist.
func (p *Pages) checkFreelist() error {
	if p.freelist == noFreelist {
		return nil
	}
	free, err := p.freePages(p.freelist)
	if err != nil {
		return fmt.Errorf("the list of free pages: %w", err)
	}
	return p.eachPage(p.root, true, map[uint64]bool{}, func(id uint64) error {
		if free[id] {
			return pageError(id, "it is in use, and the list of free pages has it")
		}
		return nil
	})
}

// freePages returns the pages that the freelist at page id lists as free, and the pages of the freelist itself.
func (p *Pages) freePages(id uint64) (map[uint64]bool, error) {
	if id < 2 || id >= p.high {
		return nil, pageError(id, "it is outside the %d pages of the file", p.high)
	}
	data := make([]byte, p.PageSize)
	if _, err := p.file.ReadAt(data, int64(id)*p.PageSize); err != nil {
		return nil, readError(id, err)
	}
	length := uint64(order.Uint32(data[12:])) + 1
	if order.Uint64(data) != id || order.Uint16(data[8:]) != freelistPage || length > p.high-id {
		return nil, pageError(id, "its header says page %d, kind %#x, %d pages long", order.Uint64(data), order.Uint16(data[8:]), length)
	}
	data = make([]byte, int64(length)*p.PageSize)
	if _, err := p.file.ReadAt(data, int64(id)*p.PageSize); err != nil {
		return nil, readError(id, err)
	}
	count, at := uint64(order.Uint16(data[10:])), pageHeaderSize
	if count == manyFree {
		count, at = order.Uint64(data[at:]), at+8
	}
	if count > uint64(len(data)-at)/8 {
		return nil, pageError(id, "it claims %d free pages", count)
	}
	free := map[uint64]bool{}
	for i := range length {
		free[id+i] = true
	}
	before := uint64(1)
	for ; count > 0; count, at = count-1, at+8 {
		n := order.Uint64(data[at:])
		if n <= before || n >= p.high || free[n] {
			return nil, pageError(id, "it says that page %d is free", n)
		}
		free[n], before = true, n
	}
	return free, nil
}

// eachPage calls fn for each page of the tree with root page id. If buckets is set, it also walks the trees of the
// buckets in this tree. seen has the pages met so far; a page that is met twice is an error.
func (p *Pages) eachPage(id uint64, buckets bool, seen map[uint64]bool, fn func(id uint64) error) error {
	if seen[id] {
		return pageError(id, "it is in use twice")
	}
	g, err := p.page(id, nil)
	if err != nil {
		return err
	}
	for i := range uint64(len(g.data)) / uint64(p.PageSize) {
		seen[id+i] = true
		if err := fn(id + i); err != nil {
			return err
		}
	}
	for i := range g.count {
		var below uint64
		switch {
		case g.kind == branchPage:
			below = g.child(i)
		case buckets && g.isBucket(i) && len(g.value(i)) >= bucketSize:
			below = order.Uint64(g.value(i)) // 0 means that the bucket is in this page (inline)
		}
		if below == 0 {
			continue
		}
		if err := p.eachPage(below, buckets && g.kind == branchPage, seen, fn); err != nil {
			return err
		}
	}
	return nil
}

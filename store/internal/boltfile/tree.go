package boltfile

import (
	"bytes"
	"fmt"
)

// Tree is one bucket of a bbolt file.
type Tree struct {
	pages  *Pages
	root   uint64
	inline *page // the only page of an inline bucket
	isRoot bool  // the root tree, which has only buckets; any other tree has none
}

// Bucket returns a top-level bucket. It returns an error if there is no bucket of this name.
func (p *Pages) Bucket(name []byte) (Tree, error) {
	c := Cursor{tree: Tree{pages: p, root: p.root, isRoot: true}}
	key, value, err := c.Floor(name)
	if err != nil {
		return Tree{}, err
	}
	if !bytes.Equal(key, name) || len(value) < bucketSize {
		return Tree{}, fmt.Errorf("%w: there is no bucket %q", ErrPage, name)
	}
	if root := order.Uint64(value); root != 0 {
		return Tree{pages: p, root: root}, nil
	}
	inline, err := parsePage(0, value[bucketSize:])
	if err != nil {
		return Tree{}, err
	}
	if inline.kind != leafPage {
		return Tree{}, pageError(0, "bucket %q begins with a branch inside its parent", name)
	}
	return Tree{pages: p, inline: &inline}, nil
}

// CheckBuckets returns an error unless the file has exactly this number of buckets, and a valid freelist (list of free
// pages) or none. bbolt would follow any further bucket, and trusts the freelist.
func (p *Pages) CheckBuckets(buckets int) error {
	c := Cursor{tree: Tree{pages: p, root: p.root, isRoot: true}}
	n := 0
	k, _, err := c.Floor(nil)
	for ; err == nil && k != nil; k, _, err = c.Next() {
		if _, err := p.Bucket(k); err != nil {
			return err
		}
		n++
	}
	if err == nil && n != buckets {
		err = fmt.Errorf("%w: there are %d buckets", ErrPage, n)
	}
	if err == nil {
		err = p.checkFreelist()
	}
	return err
}

// Get returns the value of a key; nil if the tree does not have the key.
func (t Tree) Get(key []byte) ([]byte, error) {
	c := Cursor{tree: t}
	found, value, err := c.Floor(key)
	if err != nil || !bytes.Equal(found, key) {
		return nil, err
	}
	return value, nil
}

// Cursor iterates over a tree in the order of keys. It checks that keys ascend over the whole iteration, and that they
// lie in the range that the branch pages above allow. So it cannot reach a page twice. Returned slices are valid until
// the next call.
type Cursor struct {
	tree  Tree
	path  []step
	last  []byte // copy of the current key; empty before the first
	space []byte // buffer of a page that the cursor has left, for reuse
}

// step is a page on the path from the root to the cursor's position. at is the page's element through which the path
// leads.
type step struct {
	page page
	at   int
}

// Cursor returns a cursor without a position; the caller must call Floor first.
func (t Tree) Cursor() *Cursor { return &Cursor{tree: t} }

// Floor moves to the key itself, or else to the last key before it; if there is none, to the first key of the tree. k
// is nil if the tree is empty.
func (c *Cursor) Floor(key []byte) (k, v []byte, err error) {
	c.path, c.last = c.path[:0], c.last[:0]
	if err := c.push(c.tree.root); err != nil {
		return nil, nil, err
	}
	for {
		top := &c.path[len(c.path)-1]
		top.at = max(0, top.page.atOrBefore(key))
		if top.page.kind == leafPage {
			return c.here()
		}
		if err := c.push(top.page.child(top.at)); err != nil {
			return nil, nil, err
		}
	}
}

// Next moves to the next key; k is nil after the last one.
func (c *Cursor) Next() (k, v []byte, err error) {
	for len(c.path) > 0 {
		top := &c.path[len(c.path)-1]
		if top.at++; top.at >= top.page.count {
			c.path, c.space = c.path[:len(c.path)-1], top.page.data
			continue
		}
		for top.page.kind == branchPage {
			if err := c.push(top.page.child(top.at)); err != nil {
				return nil, nil, err
			}
			top = &c.path[len(c.path)-1]
		}
		return c.here()
	}
	return nil, nil, nil
}

// push reads page id, a child of the last page of the path, and appends it to the path.
func (c *Cursor) push(id uint64) error {
	if c.tree.inline != nil && len(c.path) == 0 {
		c.path = append(c.path, step{page: *c.tree.inline})
		return nil
	}
	if len(c.path) >= maxDepth {
		return pageError(id, "it is %d levels deep", len(c.path))
	}
	g, err := c.tree.pages.page(id, c.space)
	if err != nil {
		return err
	}
	c.space = nil
	if err := c.fits(id, g); err != nil {
		return err
	}
	c.path = append(c.path, step{page: g})
	return nil
}

package boltlog

import (
	"bytes"
	"fmt"
)

// tree is one bucket of a file.
type tree struct {
	pages  *pages
	root   uint64
	inline *page // the only page of an inline bucket
	isRoot bool  // the root tree, which holds only buckets; any other tree holds none
}

// bucket returns a top-level bucket, or an error when there is none of that name.
func (p *pages) bucket(name []byte) (tree, error) {
	c := cursor{tree: tree{pages: p, root: p.root, isRoot: true}}
	key, value, err := c.floor(name)
	if err != nil {
		return tree{}, err
	}
	if !bytes.Equal(key, name) || len(value) < bucketSize {
		return tree{}, fmt.Errorf("%w: there is no bucket %q", errPage, name)
	}
	if root := order.Uint64(value); root != 0 {
		return tree{pages: p, root: root}, nil
	}
	inline, err := parsePage(0, value[bucketSize:])
	if err != nil {
		return tree{}, err
	}
	if inline.kind != leafPage {
		return tree{}, pageError(0, "bucket %q begins with a branch inside its parent", name)
	}
	return tree{pages: p, inline: &inline}, nil
}

// checkBuckets returns an error unless the file has exactly our buckets and a valid freelist: bbolt would follow any
// other bucket, and trusts the freelist.
func (p *pages) checkBuckets() error {
	c := cursor{tree: tree{pages: p, root: p.root, isRoot: true}}
	n := 0
	k, _, err := c.floor(nil)
	for ; err == nil && k != nil; k, _, err = c.next() {
		if _, err := p.bucket(k); err != nil {
			return err
		}
		n++
	}
	if err == nil && n != 3 {
		err = fmt.Errorf("%w: there are %d buckets", errPage, n)
	}
	if err == nil {
		err = p.checkFreelist()
	}
	return err
}

// get returns the value of a key; nil when there is none.
func (t tree) get(key []byte) ([]byte, error) {
	c := cursor{tree: t}
	found, value, err := c.floor(key)
	if err != nil || !bytes.Equal(found, key) {
		return nil, err
	}
	return value, nil
}

// cursor iterates over a tree in order of keys. It checks that keys ascend over the whole iteration and lie in the
// range that the branches above give, so it cannot meet a page twice. Returned slices are valid until it moves.
type cursor struct {
	tree
	path  []step
	last  []byte // copy of the current key; empty at the beginning
	space []byte // buffer of a page that the cursor has left
}

// step is a page on the path from the root, and the element that the cursor took there.
type step struct {
	page page
	at   int
}

// floor moves to the last key that is not greater than key, or to the first key if all are greater. k is nil in an
// empty tree.
func (c *cursor) floor(key []byte) (k, v []byte, err error) {
	c.path, c.last = c.path[:0], c.last[:0]
	if err := c.push(c.root); err != nil {
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

// next moves to the next key; k is nil at the end.
func (c *cursor) next() (k, v []byte, err error) {
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

// push reads a child of the page on top of the path.
func (c *cursor) push(id uint64) error {
	if c.inline != nil && len(c.path) == 0 {
		c.path = append(c.path, step{page: *c.inline})
		return nil
	}
	if len(c.path) >= maxDepth {
		return pageError(id, "it is %d levels deep", len(c.path))
	}
	g, err := c.pages.page(id, c.space)
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

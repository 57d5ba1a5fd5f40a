package boltlog_test

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestAListOfFreePagesIsHeldAgainstThoseInUse: bbolt believes the list of free pages that a meta page names, and writes
// over these pages. A list that names a page in use, or an impossible one, is damage.
func TestAListOfFreePagesIsHeldAgainstThoseInUse(t *testing.T) {
	for _, row := range []struct {
		sentence string
		free     func(high uint64) []uint64
		says     string // empty: the list is accepted
	}{
		{"of a page in use", func(uint64) []uint64 { return []uint64{3} }, "page 3: it is in use, and the list of free pages has it"},
		{"of all pages", func(high uint64) (all []uint64) {
			for id := uint64(2); id < high; id++ {
				all = append(all, id)
			}
			return all
		}, "it is in use, and the list of free pages has it"},
		{"of a page beyond the file", func(high uint64) []uint64 { return []uint64{high + 100} }, "that page"},
		{"in no order", func(uint64) []uint64 { return []uint64{9, 8} }, "says that page 8 is free"},
		{"of no page", func(uint64) []uint64 { return nil }, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			dir, _ := written(t, 60)
			all := files(t, dir, ".db")
			nameFreelist(t, all[len(all)-1], row.free)
			_, err := boltlog.Verify(t.Context(), dir, nil)
			log, openErr := boltlog.Open(dir, small)
			if openErr == nil {
				openErr = log.Close()
			}
			for what, err := range map[string]error{"verify": err, "open": openErr} {
				if row.says == "" && err != nil || row.says != "" && (!errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), row.says)) {
					t.Errorf("%s: %v, want %q", what, err, row.says)
				}
			}
		})
	}
}

// nameFreelist writes a list of free pages behind the last page in use, and makes the newest meta page name it.
func nameFreelist(t *testing.T, path string, free func(high uint64) []uint64) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.NativeEndian
	const page, header = 4096, 16
	newest := content[header:]
	if other := content[page+header:]; n.Uint64(other[48:]) > n.Uint64(newest[48:]) {
		newest = other
	}
	high := n.Uint64(newest[40:])
	list := make([]byte, page)
	ids := free(high)
	n.PutUint64(list, high)
	n.PutUint16(list[8:], 16)
	n.PutUint16(list[10:], uint16(len(ids)))
	for i, id := range ids {
		n.PutUint64(list[header+8*i:], id)
	}
	n.PutUint64(newest[32:], high)
	n.PutUint64(newest[40:], high+1)
	sum := fnv.New64a()
	_, _ = sum.Write(newest[:56])
	n.PutUint64(newest[56:], sum.Sum64())
	if grown := int(high+1) * page; len(content) < grown {
		content = append(content, make([]byte, grown-len(content))...)
	}
	copy(content[int(high)*page:], list)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAFileThatBboltCompactedIsRead: bbolt's own tools write a list of free pages.
func TestAFileThatBboltCompactedIsRead(t *testing.T) {
	dir, _ := written(t, 60)
	all := files(t, dir, ".db")
	db, err := bbolt.Open(all[len(all)-1], 0o600, nil)
	if err == nil {
		err = errors.Join(db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("offsets")).Put([]byte("x"), nil) }), db.Update(
			func(tx *bbolt.Tx) error { return tx.Bucket([]byte("offsets")).Delete([]byte("x")) }), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Verify(t.Context(), dir, nil); err != nil {
		t.Error(err)
	}
}

package joblist_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/joblist"
)

// TestPackingLeavesListsAsTheyAre: a list that was made of a plain file is good for the packed one and is not made
// again, and one that is made of the packed file is the same to the last byte.
func TestPackingLeavesListsAsTheyAre(t *testing.T) {
	log, config, finish := openCopy(t)
	want := wholeFold(t, log)
	lists, err := filepath.Glob(filepath.Join(config.Dir, "*.jobs"))
	if err != nil || len(lists) < 4 {
		t.Fatal(lists, err)
	}
	var made []os.FileInfo
	var content [][]byte
	for i, list := range lists {
		info, err := os.Stat(list)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		made, content = append(made, info), append(content, b)
		if i%2 == 0 {
			if err := os.Rename(list, list+".away"); err != nil { // its inode is not given to another
				t.Fatal(err)
			}
		}
	}

	packed := 0
	for {
		first, err := log.Pack(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			break
		}
		packed++
	}
	if packed != len(lists)-1 {
		t.Errorf("%d files are packed, of %d", packed, len(lists))
	}
	all, _ := pages(t, joblist.New(config), history.ListQuery{Limit: 30})
	same(t, "packed, half of the lists gone", want, all)
	finish()
	for i, list := range lists {
		info, err := os.Stat(list)
		if err != nil {
			t.Fatal(err)
		}
		if again := !os.SameFile(info, made[i]); again != (i%2 == 0) {
			t.Errorf("%s was made again: %v", filepath.Base(list), again)
		}
		if b, err := os.ReadFile(list); err != nil || !bytes.Equal(b, content[i]) {
			t.Errorf("%s is another one after packing (%v)", filepath.Base(list), err)
		}
	}
	all, _ = pages(t, joblist.New(config), history.ListQuery{Limit: 30})
	same(t, "packed", want, all)
}

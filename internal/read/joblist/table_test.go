package joblist

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// counting counts the blocks that are read.
type counting struct {
	io.ReaderAt
	reads int
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(b, at)
}

// TestATableReadsFewBlocks: each key is found with one block, and keys that begin alike with those that have them, and
// the one before.
func TestATableReadsFewBlocks(t *testing.T) {
	var out bytes.Buffer
	w := tableWriter{out: &out}
	var keys []string
	for i := range 400 {
		key := fmt.Sprintf("%c-%03d", 'b'+i/40, i)
		if err := w.add([]byte(key), bytes.Repeat([]byte{byte(i)}, 400+i)); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	where, err := w.end()
	if err != nil || w.blocks < 8 || int64(out.Len()) != w.bytes {
		t.Fatal(err, w.blocks, w.bytes)
	}
	file := &counting{ReaderAt: bytes.NewReader(out.Bytes())}
	table, end := openTable(file, 0, &decoder{rest: where})
	if end != w.bytes || len(table.blocks) != w.blocks {
		t.Fatalf("it ends at %d with %d blocks, want %d and %d", end, len(table.blocks), w.bytes, w.blocks)
	}
	for i, key := range keys {
		file.reads = 0
		content, ok, err := table.find([]byte(key))
		if err != nil || !ok || len(content) != 400+i || content[0] != byte(i) || file.reads != 1 {
			t.Fatalf("%s: %d bytes, %t, %v, by %d reads", key, len(content), ok, err, file.reads)
		}
		for _, none := range []string{key + "x", "a", ""} {
			if _, ok, err := table.find([]byte(none)); ok || err != nil {
				t.Fatalf("%q is there: %v", none, err)
			}
		}
		if b := table.before([]byte(key)); b >= 0 && string(table.blocks[b].first) >= key || b+1 < len(table.blocks) && string(table.blocks[b+1].first) < key {
			t.Fatalf("%s: keys before it begin with block %d", key, b)
		}
	}
	for _, prefix := range []string{"", "a", "b", "b-0", "c-0", "f", "k-39", "k-399", "l", keys[len(keys)-1] + "x", string(table.blocks[3].first)} {
		var want []string
		blocks := 1
		for i, b := range table.blocks {
			if strings.HasPrefix(string(b.first), prefix) && i > 0 {
				blocks++
			}
		}
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		file.reads = 0
		got, err := table.like([]byte(prefix))
		if err != nil || !slices.Equal(got, want) || file.reads > blocks {
			t.Errorf("%q: %d keys, want %d, by %d reads, want %d: %v", prefix, len(got), len(want), file.reads, blocks, err)
		}
	}
	if err := table.check(); err != nil {
		t.Error(err)
	}
	damaged := slices.Clone(out.Bytes())
	damaged[len(damaged)-1]++
	table.file = bytes.NewReader(damaged)
	if table.check() == nil {
		t.Error("the last block is damaged, and that is not found")
	}
}

package integration

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// bolt has the counters in the two meta pages of a log's newest file. They can be read while another process writes:
// bbolt writes a meta page in one piece, and never the page that is in force.
//
//	page header  16 bytes
//	magic, version, page size, flags            4 bytes each
//	root bucket  16 bytes
//	freelist, high water mark, transaction      8 bytes each
type bolt struct {
	commits uint64 // transactions written so far
	bytes   uint64 // up to the high water mark; space that is allocated ahead is not in use
}

const boltMagic = 0xED0CDAED

// boltOf reads the newest file of the log in dir.
func boltOf(t *testing.T, dir string) bolt {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no file of a log in %s: %v", dir, err)
	}
	b, err := readBolt(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readBolt(path string) (bolt, error) {
	f, err := os.Open(path)
	if err != nil {
		return bolt{}, err
	}
	defer f.Close()
	order := binary.NativeEndian
	var newest bolt
	for page := range int64(2) {
		const header, size = 16, 64
		var meta [size]byte
		if _, err := f.ReadAt(meta[:], page*int64(os.Getpagesize())+header); err != nil && err != io.EOF {
			return bolt{}, err
		}
		if magic := order.Uint32(meta[0:]); magic != boltMagic {
			return bolt{}, fmt.Errorf("meta page %d of %s begins with %#x", page, path, magic)
		}
		commits, pages := order.Uint64(meta[48:]), order.Uint64(meta[40:])
		if commits >= newest.commits {
			newest = bolt{commits: commits, bytes: pages * uint64(order.Uint32(meta[8:]))}
		}
	}
	return newest, nil
}

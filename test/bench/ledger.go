package bench

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ledger says how many durable writes (commits) and bytes Jobledger's log has cost so far. This is read from the two
// meta pages of each bbolt file of the log. This is safe while another process writes, because bbolt writes a meta page
// at once, and never the page that is valid now.
//
//	page header  16 bytes
//	magic, version, page size, flags            4 bytes each
//	root bucket  16 bytes
//	freelist, high water mark, transaction      8 bytes each
type ledger struct {
	commits uint64 // number of commits; each needs two fdatasyncs
	// bytes in use: up to the high water mark of each file, so without space that is allocated in advance
	grown uint64
}

const boltMagic = 0xED0CDAED

// ledgerIn returns what Jobledger's log in dir has cost so far, such as its commits, summed over its files.
func ledgerIn(dir string) (ledger, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err == nil && len(files) == 0 {
		err = os.ErrNotExist
	}
	if err != nil {
		return ledger{}, fmt.Errorf("there is no file of a log in %s (%w)", dir, err)
	}
	var all ledger
	for _, path := range files {
		one, err := readMeta(path)
		if err != nil {
			return ledger{}, err
		}
		all.commits += one.commits
		all.grown += one.grown
	}
	return all, nil
}

func readMeta(path string) (ledger, error) {
	f, err := os.Open(path)
	if err != nil {
		return ledger{}, fmt.Errorf("read what a log has cost: %w", err)
	}
	defer f.Close()
	order := binary.NativeEndian
	var newest ledger
	for page := range int64(2) {
		const header, size = 16, 64
		var meta [size]byte
		if _, err := f.ReadAt(meta[:], page*int64(os.Getpagesize())+header); err != nil && err != io.EOF {
			return ledger{}, fmt.Errorf("read what a log has cost: %w", err)
		}
		if magic := order.Uint32(meta[0:]); magic != boltMagic {
			return ledger{}, fmt.Errorf("meta page %d of %s begins with %#x", page, path, magic)
		}
		commits, pages := order.Uint64(meta[48:]), order.Uint64(meta[40:])
		if commits >= newest.commits {
			newest = ledger{commits: commits, grown: pages * uint64(order.Uint32(meta[8:]))}
		}
	}
	return newest, nil
}

package boltlog

import (
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/store/regular"
)

// mostRestoring is more bytes than the file has.
const mostRestoring = 4 << 10

// BeginRestore marks a directory as one that is being filled. Nothing opens the log in it until EndRestore. The note
// says from what.
func BeginRestore(dir, note string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := syncAbove(dir); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, restoringName), []byte(note))
}

// Restoring is the note of a restore that has not ended; the error is fs.ErrNotExist when there is none.
func Restoring(dir string) (note string, err error) {
	content, err := regular.Read(filepath.Join(dir, restoringName), mostRestoring)
	return string(content), err
}

// EndRestore makes what is in the directory durable, and a log.
func EndRestore(dir string) error {
	if err := syncDir(dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, restoringName)); err != nil {
		return err
	}
	return syncDir(dir)
}

package boltlog

import (
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/regular"
)

// mostRestoring is larger than the file.
const mostRestoring = 4 << 10

// BeginRestore creates the directory and marks it as the target of a restore. No function opens the log in it until
// EndRestore. note names the source.
func BeginRestore(dir, note string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := disk.SyncAbove(dir); err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, restoringName), []byte(note))
}

// Restoring returns the note of a restore that has not ended; fs.ErrNotExist when there is none.
func Restoring(dir string) (note string, err error) {
	content, err := regular.Read(filepath.Join(dir, restoringName), mostRestoring)
	return string(content), err
}

// EndRestore makes the names in the directory durable and removes the mark, so that the log can be opened.
func EndRestore(dir string) error {
	if err := disk.SyncDir(dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, restoringName)); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

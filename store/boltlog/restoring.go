package boltlog

import (
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/regular"
)

// mostRestoring limits how much is read of the file RESTORING, which marks an unfinished restore; longer content is an
// error.
const mostRestoring = 4 << 10

// BeginRestore creates the directory, and marks it as the target of a restore. Until EndRestore, no function opens a
// log in it. note is the content of the mark: a text that names the source.
func BeginRestore(dir, note string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := disk.SyncAbove(dir); err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, restoringName), []byte(note))
}

// Restoring returns the note of a restore into dir that has not ended; fs.ErrNotExist if there is none.
func Restoring(dir string) (note string, err error) {
	content, err := regular.Read(filepath.Join(dir, restoringName), mostRestoring)
	return string(content), err
}

// EndRestore makes the directory entries durable and removes the mark, so that the log can be opened.
func EndRestore(dir string) error {
	if err := disk.SyncDir(dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, restoringName)); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

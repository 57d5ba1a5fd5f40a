package disk

import (
	"errors"
	"os"
	"path/filepath"
)

// TempSuffix is the suffix of a file that is not complete yet.
const TempSuffix = ".tmp"

// WriteFile replaces the file at path atomically and durably. After a crash the file has the old content or the new
// one; if there was no old file, it may be absent.
func WriteFile(path string, content []byte) error {
	temp := path + TempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return SyncDir(filepath.Dir(path))
}

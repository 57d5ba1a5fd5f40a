package following

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/store/regular"
)

// FileName is a file in the directory of a log that several controllers copy from each other. Without the other
// controllers, a program must not continue such a log: it could use record numbers that another controller has used.
// RefuseAlone checks for this file.
const FileName = "FOLLOWS"

// mostFile limits the bytes that are read of this file.
const mostFile = 4 << 10

// file is the content of the file, as JSON.
type file struct {
	Log string `json:"log"` // ID of the log
}

// RefuseAlone returns an error if the log in dir is copied by another controller, or is such a copy. A program calls it
// before it writes the log alone.
func RefuseAlone(dir string) error {
	path := filepath.Join(dir, FileName)
	_, err := regular.Read(path, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read whether the log has a standby: %w", err)
	}
	return fmt.Errorf("the log in %s is one of several controllers that follow each other: it may lack records of another "+
		"one, and nothing would say so. Run it with --%s. To go on with it alone for good, stop them all, the leader last, and "+
		"start that one with --alone", dir, Flag)
}

// writeFile creates the file FOLLOWS in the log's directory, atomically and durably.
func writeFile(address, logID string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("note that the log has a standby: %w", err)
		}
	}()
	dir, err := open.Dir(address)
	if err != nil {
		return err
	}
	text, err := json.Marshal(file{Log: logID})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, FileName)
	fresh, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fresh.Write(append(text, '\n'))
	if err = errors.Join(err, fresh.Sync(), fresh.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

package replicating

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/store/regular"
)

// FileName is a file in the directory of a log that is a replica of a stream. Who writes the log without the stream
// would give it another history, so it is refused.
const FileName = "REPLICA"

// mostFile is how much of such a file is read.
const mostFile = 4 << 10

// File is what it says, as JSON.
type File struct {
	Log         string `json:"log"`         // its ID
	Stream      string `json:"stream"`      // its name
	Incarnation string `json:"incarnation"` // made anew with each stream of that name
	// Begun says that the stream had a claim. One that had and has none lost it.
	Begun bool `json:"begun"`
	// Replica is random, and tells this directory from those of other replicas. A copy of the directory is the same one.
	Replica string `json:"replica,omitempty"`
}

// Of is how a Lease names the stream.
func (f *File) Of() string { return f.Stream + "/" + f.Incarnation }

// ReadFile reads the file of a directory; nil when there is none.
func ReadFile(dir string) (*File, error) {
	path := filepath.Join(dir, FileName)
	text, err := regular.Read(path, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which stream the log follows: %w", err)
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil || f.Log == "" || f.Stream == "" || f.Incarnation == "" {
		return nil, fmt.Errorf("%s does not say which stream the log follows: put back the one that belongs to it", path)
	}
	return &f, nil
}

// write puts the file into a directory, whole or not at all, and durably.
func (f *File) write(dir string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("note which stream the log follows: %w", err)
		}
	}()
	text, err := json.Marshal(f)
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

// RefuseAlone says that the log of a directory is a replica, for who would write it without its stream; nil when it is
// none.
func RefuseAlone(dir string) error {
	f, err := ReadFile(dir)
	if f == nil || err != nil {
		return err
	}
	return fmt.Errorf("the log in %s is a replica of the NATS stream %s: written without it, it would get another history. "+
		"Run it with --%s; to go on without replicas for good, stop them all and remove %s",
		dir, f.Stream, Flag, filepath.Join(dir, FileName))
}

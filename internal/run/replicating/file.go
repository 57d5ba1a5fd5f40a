package replicating

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/regular"
)

// FileName is the name of a file in the directory of a log that is a replica of a stream. A program that wrote the log
// without the stream would give it another history, so it must refuse (see RefuseAlone).
const FileName = "REPLICA"

// mostFile is the number of bytes read of that file.
const mostFile = 4 << 10

// File is the content of the file, as JSON.
type File struct {
	Log         string `json:"log"`         // ID of the log
	Stream      string `json:"stream"`      // name of the stream
	Incarnation string `json:"incarnation"` // new for each stream of that name
	// Begun says that the stream had a claim. If it has none now, it has lost it.
	Begun bool `json:"begun"`
	// Replica is random, and identifies this directory among the replicas. A copy of the directory has the same one.
	Replica string `json:"replica,omitempty"`
	// Servers are those of --replicate when the stream was found last. Others that have no such stream may be the wrong
	// ones.
	Servers string `json:"servers,omitempty"`
	// Refill is what the stream got again from this directory, until the log has a record of it.
	Refill *Refill `json:"refill,omitempty"`

	// after is the incarnation in whose place the stream was made, sealed by the log's key; empty for the first one.
	after string
}

// Refill is an events.StreamRefilled.
type Refill struct {
	From    events.Sequence `json:"from"`
	Through events.Sequence `json:"through"`
	Place   uint64          `json:"place"`
}

// Of returns the name of the stream in a Lease, such as prod/6f2c: its name and incarnation.
func (f *File) Of() string { return f.Stream + "/" + f.Incarnation }

// ReadFile reads the file in dir; nil if there is none.
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

// write writes the file into dir, atomically and durably.
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

// RefuseAlone returns an error if the log in dir is a replica, for a program that would write it without its stream.
func RefuseAlone(dir string) error {
	f, err := ReadFile(dir)
	if f == nil || err != nil {
		return err
	}
	return fmt.Errorf("the log in %s is a replica of the NATS stream %s: written without it, it would get another history. "+
		"Run it with --%s. To go on without replicas for good, stop them all, the leader last, and start it with --alone",
		dir, f.Stream, Flag)
}

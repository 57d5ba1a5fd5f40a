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

// FileName is a file in the directory of a log that is replicated by a stream. A program that wrote the log without the
// stream would add records that the other replicas do not have, so it must refuse (see RefuseAlone).
const FileName = "REPLICA"

// mostFile limits the bytes that are read of this file.
const mostFile = 4 << 10

// File is the content of the file REPLICA, as JSON.
type File struct {
	Log         string `json:"log"`         // ID of the log
	Stream      string `json:"stream"`      // name of the stream
	Incarnation string `json:"incarnation"` // ID of the stream; another one for each stream with the same name
	// Begun says that a leader has written to the stream. If the stream is empty now, it has lost that.
	Begun bool `json:"begun"`
	// Replica is a random ID of this directory, by which replicas are told apart. A copied directory has the same ID.
	Replica string `json:"replica,omitempty"`
	// Servers is the value of --replicate when the stream was last found. If other servers do not have the stream, they
	// may be the wrong servers.
	Servers string `json:"servers,omitempty"`
	// Refill is what was stored in the stream again from this directory, until the log has a record that says so.
	Refill *Refill `json:"refill,omitempty"`

	// after is the incarnation that this stream replaced, authenticated with the log's key; empty for the first stream.
	after string
}

// Refill has the fields of an events.StreamRefilled.
type Refill struct {
	From    events.Sequence `json:"from"`
	Through events.Sequence `json:"through"`
	Place   uint64          `json:"place"`
}

// Of returns the stream's name and incarnation, such as prod/6f2c. The Lease names the stream in this way.
func (f *File) Of() string { return f.Stream + "/" + f.Incarnation }

// ReadFile reads the file REPLICA in dir; nil if there is none.
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

// write writes the file REPLICA into dir, atomically and durably.
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

// RefuseAlone returns an error if the log in dir is replicated by a stream. A program that would write the log without
// the stream calls it.
func RefuseAlone(dir string) error {
	f, err := ReadFile(dir)
	if f == nil || err != nil {
		return err
	}
	return fmt.Errorf("the log in %s is a replica of the NATS stream %s: written without it, it would get another history. "+
		"Run it with --%s. To go on without replicas for good, stop them all, the leader last, and start it with --alone",
		dir, f.Stream, Flag)
}

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

// FileName is a file in the directory of a log that a NATS stream replicates. Without the stream, a program must not
// write to such a log: it would add records that the other replicas do not have. RefuseAlone checks for this file.
const FileName = "REPLICA"

// mostFile limits the bytes that are read of this file.
const mostFile = 4 << 10

// File is the content of the file REPLICA, as JSON.
type File struct {
	Log         string `json:"log"`         // ID of the log
	Stream      string `json:"stream"`      // ID of the stream; a new stream with the same name gets another one
	Incarnation string `json:"incarnation"` // ID of the stream; another one for each stream with the same name
	// Begun says that a leader has written to the stream. A stream that is empty later has lost records.
	Begun bool `json:"begun"`
	// Replica is a random ID of this directory, which distinguishes the replicas. A copy of the directory has the same
	// ID.
	Replica string `json:"replica,omitempty"`
	// Servers is the value of --replicate when the stream was last found. If other servers do not have the stream, they
	// may be the wrong servers.
	Servers string `json:"servers,omitempty"`
	// Refill says which records were stored in the stream again from this directory. It is removed when the log has a
	// record of this.
	Refill *Refill `json:"refill,omitempty"`

	// after is the ID of the stream that this one replaced, authenticated with the log's key; empty for the first
	// stream.
	after string
}

// Refill says which records were stored in the stream again, after the stream had lost them. It has the fields of an
// events.StreamRefilled.
type Refill struct {
	From    events.Sequence `json:"from"`
	Through events.Sequence `json:"through"`
	Place   uint64          `json:"place"`
}

// Of returns the name and the ID (incarnation) of the stream, such as prod/6f2c. The Lease names the stream like this.
func (f *File) Of() string { return f.Stream + "/" + f.Incarnation }

// ReadFile reads the file REPLICA in dir; it returns nil if there is none.
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

// RefuseAlone returns an error if a NATS stream replicates the log in dir. A program calls it before it writes to the
// log without the stream.
func RefuseAlone(dir string) error {
	f, err := ReadFile(dir)
	if f == nil || err != nil {
		return err
	}
	return fmt.Errorf("the log in %s is a replica of the NATS stream %s: written without it, it would get another history. "+
		"Run it with --%s. To go on without replicas for good, stop them all, the leader last, and start it with --alone",
		dir, f.Stream, Flag)
}

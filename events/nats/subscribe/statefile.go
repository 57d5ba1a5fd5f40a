package subscribe

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/events/nats"
)

// StateFile is a State in a file. Save replaces the file atomically, so a reader sees the old or the new content, even
// if the process is killed. While a Run uses the file, other Runs that open it wait: they would overwrite each other's
// events. Save syncs the file to disk at most once a second, and Close always does. So after a power cut the file may
// be older; then the server's state counts, unless that is lost too.
type StateFile struct {
	path   string
	are    stateJSON // content of the file without the event
	lock   *os.File  // held by the Run that uses it; nil before
	synced time.Time
	newer  bool // the file is newer than the content that was last synced to disk
}

// stateJSON is the content of the file, on one line.
type stateJSON struct {
	Version      int    `json:"version"` // always 1
	Cluster      string `json:"cluster"`
	Subscription string `json:"subscription,omitempty"` // durable name
	Last         string `json:"last,omitempty"`         // ID of the last record taken
	Chain        string `json:"chain,omitempty"`        // the log's chain value after it, in hexadecimal

	Doubt  string     `json:"doubt,omitempty"`  // ID of the first record that may be missing without a report
	Stream *time.Time `json:"stream,omitempty"` // creation time of the stream that Doubt is about
}

const (
	stateVersion = 1
	syncEvery    = time.Second
)

// OpenStateFile opens the state of a subscription to the events of cluster with the durable name, which may be empty.
// It creates missing directories, and returns an error when the file cannot be read or written, or belongs to another
// subscription.
func OpenStateFile(path, cluster, durable string) (*StateFile, error) {
	f := &StateFile{path: path, are: stateJSON{Version: stateVersion, Cluster: cluster, Subscription: durable}}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the last event: %w", err)
	}
	if _, err := f.Load(); err != nil {
		return nil, err
	}
	f.tidy()
	if err := os.WriteFile(f.temporary(), nil, 0o600); err != nil {
		return nil, fmt.Errorf("keep the last event: %w", err)
	}
	if err := os.Remove(f.temporary()); err != nil {
		return nil, fmt.Errorf("keep the last event: %w", err)
	}
	return f, nil
}

func (f *StateFile) temporary() string { return fmt.Sprintf("%s.%d.tmp", f.path, os.Getpid()) }

// tidy removes temporary files that killed processes left. It keeps files younger than a minute, which a live process
// may be writing.
func (f *StateFile) tidy() {
	there, _ := os.ReadDir(filepath.Dir(f.path)) // unreadable entries stay
	for _, entry := range there {
		rest, ours := strings.CutPrefix(entry.Name(), filepath.Base(f.path)+".")
		pid, temporary := strings.CutSuffix(rest, ".tmp")
		if _, err := strconv.ParseUint(pid, 10, 32); !ours || !temporary || err != nil {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(filepath.Join(filepath.Dir(f.path), entry.Name()))
		}
	}
}

// hold locks the file for this process. It returns an error when another process has it. On file systems without locks
// it excludes no other process.
func (f *StateFile) hold() error {
	if f.lock != nil {
		return nil
	}
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil //nolint:nilerr // Save will report that the directory is not writable
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		_ = lock.Close() // nothing was written to it
		return fmt.Errorf("another subscriber keeps what it takes in %s: waiting until it ends", f.path)
	}
	f.lock = lock // the system releases it when the process ends
	return nil
}

// Load implements State: it reads the last handled event from the file; zero if the file does not exist.
func (f *StateFile) Load() (Taken, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Taken{}, nil
	}
	if err != nil {
		return Taken{}, fmt.Errorf("read the last event: %w", err)
	}
	taken, err := f.parse(text)
	if err != nil {
		goes := "goes on where the server remembers"
		if f.are.Subscription == "" {
			goes = "begins where it is told to"
		}
		return Taken{}, fmt.Errorf("%s: %w (without the file, the subscription %s)", f.path, err, goes)
	}
	return taken, nil
}

func (f *StateFile) parse(text []byte) (taken Taken, err error) {
	var has stateJSON
	if err := json.Unmarshal(text, &has); err != nil {
		return taken, fmt.Errorf("it does not hold the last event of a subscription: %w", err)
	}
	switch {
	case has.Version != stateVersion:
		return taken, fmt.Errorf("its version is %d, and %d is known", has.Version, stateVersion)
	case has.Cluster != f.are.Cluster || has.Subscription != f.are.Subscription:
		return taken, fmt.Errorf("it is of the subscription %q to cluster %q, not of %q to %q",
			has.Subscription, has.Cluster, f.are.Subscription, f.are.Cluster)
	}
	if taken.ID, err = nats.ParseID(has.Last); err != nil {
		return taken, err
	}
	if has.Doubt != "" {
		if taken.Doubt, err = nats.ParseID(has.Doubt); err != nil {
			return taken, err
		}
	}
	if has.Stream != nil {
		taken.Stream = *has.Stream
	}
	if has.Chain == "" {
		return taken, nil
	}
	chain, err := hex.DecodeString(has.Chain)
	if err != nil || len(chain) != len(taken.Chain) {
		return taken, fmt.Errorf("%q is no chain value", has.Chain)
	}
	copy(taken.Chain[:], chain)
	return taken, nil
}

// Save implements State: it replaces the file with one that has the event, and syncs it at most once a second.
func (f *StateFile) Save(taken Taken) error {
	now := f.are
	now.Last = taken.ID.String()
	if taken.Chain != (Taken{}).Chain {
		now.Chain = taken.Chain.String()
	}
	if taken.Doubt != (nats.ID{}) {
		now.Doubt, now.Stream = taken.Doubt.String(), &taken.Stream
	}
	text, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("keep the last event: %w", err)
	}
	err = f.replace(append(text, '\n'), time.Since(f.synced) >= syncEvery)
	if err != nil {
		return fmt.Errorf("keep the last event: %w", err)
	}
	return nil
}

// replace writes text to a temporary file and renames it. With safe it also syncs the file and its name to disk.
func (f *StateFile) replace(text []byte, safe bool) (err error) {
	file, err := os.OpenFile(f.temporary(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil && safe {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(f.temporary(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.temporary()))
	}
	f.newer = !safe
	if !safe {
		return nil
	}
	f.synced = time.Now()
	return syncName(f.path)
}

// Close syncs the last saved state to disk, and unlocks the file.
func (f *StateFile) Close() error {
	if f.lock != nil {
		defer func() {
			_ = f.lock.Close() // nothing was written to it
			f.lock = nil
		}()
	}
	if !f.newer {
		return nil
	}
	text, err := os.ReadFile(f.path)
	if err == nil {
		err = f.replace(text, true)
	}
	if err != nil {
		return fmt.Errorf("keep the last event: %w", err)
	}
	return nil
}

// syncName syncs the directory of a file, so that a new or changed name survives a power cut.
func syncName(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

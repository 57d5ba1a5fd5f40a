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

// StateFile is a State in a file, which is replaced whole with each event. Whoever reads it sees one or the other, also
// when the process is killed. While a Run uses it, others wait until that one has ended: they would write over each
// other what they took. It reaches the disk at the latest with the first event after a second, and with Close: after a
// power cut it may be older, and then the server's memory counts, unless that is gone, too.
type StateFile struct {
	path   string
	are    stateJSON // what the file says but the event
	lock   *os.File  // of the Run that uses it; nil before
	synced time.Time
	newer  bool // than what is on the disk for certain
}

// stateJSON is what the file holds, on one line.
type stateJSON struct {
	Version      int    `json:"version"` // 1
	Cluster      string `json:"cluster"`
	Subscription string `json:"subscription,omitempty"` // its durable name
	Last         string `json:"last,omitempty"`         // ID of the last record that was taken
	Chain        string `json:"chain,omitempty"`        // the log's chain value after it, in hexadecimal

	Doubt  string     `json:"doubt,omitempty"`  // ID of the first record that may be missing without a word
	Stream *time.Time `json:"stream,omitempty"` // when the stream of the doubt was made
}

const (
	stateVersion = 1
	syncEvery    = time.Second
)

// OpenStateFile makes the directories that are missing, and checks that the file can be read and written. It belongs to
// the subscription of that durable name, which may be empty, to events of that cluster; another one's is refused.
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

// tidy removes what processes left behind that were killed while they wrote. What is younger may be of one that lives.
func (f *StateFile) tidy() {
	there, _ := os.ReadDir(filepath.Dir(f.path)) // what cannot be read stays
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

// hold takes the file for this process, unless another one has it. Where files cannot be locked, other processes are
// not kept out.
func (f *StateFile) hold() error {
	if f.lock != nil {
		return nil
	}
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil //nolint:nilerr // nothing can be written there, which Save tells
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		_ = lock.Close() // nothing was written to it
		return fmt.Errorf("another subscriber keeps what it takes in %s: waiting until it ends", f.path)
	}
	f.lock = lock // it goes with the process, also when that is killed
	return nil
}

// Load is described by State.
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

// Save is described by State.
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

// replace writes a file beside it and gives it the name. Only when it is to be safe from a power cut are file and name
// synced.
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

// Close makes what was saved last safe from a power cut, and lets others use the file.
func (f *StateFile) Close() error {
	if f.lock != nil {
		defer func() {
			_ = f.lock.Close() // likewise
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

// syncName makes the name of a file safe from a power cut.
func syncName(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

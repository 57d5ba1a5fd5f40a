package drill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jobledger/jobledger/store/open"
)

// UsageError says that a drill must not be where it was asked for.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Apart is a directory that a drill keeps away from.
type Apart struct {
	Dir  string
	What string // "the live log"
}

// The names of the directories of drills. One has the file of the lock, and the restored log.
const (
	prefix   = "jobledger-drill-"
	lockName = "DRILL"
	logName  = "log"
)

// space is the directory of one drill.
type space struct {
	dir  string
	made string   // the directory around it, when the drill has made that; empty otherwise
	lock *os.File // held while the drill lasts, so that no other one takes the directory for a leftover
}

func (s *space) log() string { return filepath.Join(s.dir, logName) }

// newSpace makes a directory in another one: in that of temporary files when around is empty, else in an empty one.
func newSpace(around string, apart []Apart) (*space, error) {
	own := around != ""
	if !own {
		around = os.TempDir()
	}
	around, err := filepath.Abs(around)
	if err != nil {
		return nil, err
	}
	if err := keepAway(around, apart); err != nil {
		return nil, err
	}
	made := ""
	if _, err := os.Lstat(around); errors.Is(err, fs.ErrNotExist) && own {
		if err := os.Mkdir(around, 0o700); err != nil {
			return nil, err
		}
		made = around
	}
	if err := removeLeftovers(around); err != nil {
		return nil, err
	}
	if err := isEmpty(around); own && err != nil {
		return nil, err
	}
	s, err := makeSpace(around)
	if err != nil {
		return nil, err
	}
	s.made = made
	return s, nil
}

func makeSpace(around string) (*space, error) {
	dir, err := os.MkdirTemp(around, prefix)
	if err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &space{dir: dir, lock: lock}, nil
}

// remove deletes all that the drill has made.
func (s *space) remove() error {
	err := os.RemoveAll(s.dir)
	if s.made != "" {
		err = errors.Join(err, os.Remove(s.made))
	}
	return errors.Join(err, s.lock.Close())
}

// isEmpty checks that nothing is in a directory but drills that go on.
func isEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "lost+found" && !strings.HasPrefix(e.Name(), prefix) {
			return &UsageError{fmt.Sprintf("%s is not empty (%s): a drill wants an empty directory, or none", dir, e.Name())}
		}
	}
	return nil
}

// removeLeftovers deletes directories of drills that were killed: ours, with a lock that no process holds.
func removeLeftovers(around string) error {
	entries, err := os.ReadDir(around)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(around, e.Name())
		if lock := left(dir); lock != nil {
			if err := errors.Join(os.RemoveAll(dir), lock.Close()); err != nil {
				return fmt.Errorf("remove what a drill before left: %w", err)
			}
		}
	}
	return nil
}

// left takes the lock of a directory that a killed drill left; nil when it is none.
func left(dir string) *os.File {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
		return nil
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = lock.Close() // a drill has it; nothing was written
		return nil
	}
	return lock
}

// keepAway refuses a directory that is in one with a log, or in one of those that are given.
func keepAway(dir string, apart []Apart) error {
	real := realPath(dir)
	for _, a := range apart {
		if a.Dir == "" {
			continue
		}
		in, err := filepath.Rel(realPath(a.Dir), real)
		if err == nil && in != ".." && !strings.HasPrefix(in, ".."+string(filepath.Separator)) {
			return &UsageError{fmt.Sprintf("%s is in %s, which has %s: a drill wants a directory apart from it", dir, a.Dir,
				a.What)}
		}
	}
	for at := real; ; at = filepath.Dir(at) {
		if is, err := open.Exists(at); is && err == nil {
			return &UsageError{fmt.Sprintf("%s has a log in it: a drill wants a directory apart from it", at)}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// realPath is a path without links, as far as it is there.
func realPath(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

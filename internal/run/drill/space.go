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

// UsageError says why the given directory must not be used for a drill (a test restore).
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Apart is a directory in which no drill (test restore) may be made.
type Apart struct {
	Dir  string
	What string // a name for messages, such as "the live log"
}

// Names of a drill's directory (prefix), and in it of a lock file and of the restored log.
const (
	prefix   = "jobledger-drill-"
	lockName = "DRILL"
	logName  = "log"
)

// space is the directory in which one drill restores its log.
type space struct {
	dir  string
	made string   // directory around dir that the drill created, too; empty if it existed
	lock *os.File // locked during the drill, so that no other drill deletes the directory as a leftover
}

func (s *space) log() string { return filepath.Join(s.dir, logName) }

// newSpace creates a directory for one drill (a test restore) inside around, which must be empty or new; "" stands for
// the system's directory for temporary files. The directory must not be inside one of apart.
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

// remove deletes the directories that the drill created.
func (s *space) remove() error {
	err := os.RemoveAll(s.dir)
	if s.made != "" {
		err = errors.Join(err, os.Remove(s.made))
	}
	return errors.Join(err, s.lock.Close())
}

// isEmpty returns an error if the directory contains anything but directories of running drills.
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

// removeLeftovers deletes the directories of drills that were killed: those of this user with a lock file that no
// process has locked.
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

// left returns the lock of a killed drill's directory, now locked by this process; nil if dir is not the directory of a
// killed drill.
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
		_ = lock.Close() // another process has the lock: that drill is running
		return nil
	}
	return lock
}

// keepAway returns an error if dir is inside a directory with a log, or inside one of apart.
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

// realPath returns path with symbolic links resolved, as far as the path exists.
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

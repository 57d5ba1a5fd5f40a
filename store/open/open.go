package open

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// backend has the functions for one kind of log. `place` is the address of the log without the scheme.
type backend struct {
	forWriting func(place string, options store.Options) (store.Opened, error)
	readOnly   func(place string) (store.Archive, error)
	verify     func(ctx context.Context, place string, progress func(done, total int64), has ...store.Head) (store.Report, error)
	exists     func(place string) (bool, error)
	key        func(place string) (events.Key, error)
	fill       func(place, logID string) (store.Filling, error)
	unfilled   func(place string) (bool, error)
	vacant     func(place string) error
	setAside   func(ctx context.Context, place string, through events.Sequence, folder string) error
	aside      func(place string) (through events.Sequence, folder string, is bool, err error)
	branches   func(place string) ([]string, error)
	inBranches func(place string) (branches int, bytes int64, err error)
	directory  bool // place is a directory, in which other parts of the program may store files
}

// directories is the scheme of an address that names none: a directory with bbolt files.
const directories = "bolt"

// backends has the backend for each scheme.
var backends = map[string]backend{
	directories: {
		forWriting: func(dir string, options store.Options) (store.Opened, error) {
			log, err := boltlog.Open(dir, options)
			if err != nil {
				return nil, err
			}
			return log, nil
		},
		readOnly: func(dir string) (store.Archive, error) {
			log, err := boltlog.OpenReadOnly(dir)
			if err != nil {
				return nil, err
			}
			return log, nil
		},
		verify: boltlog.Verify,
		exists: boltlog.Exists,
		key:    boltlog.ReadKey,
		fill: func(dir, logID string) (store.Filling, error) {
			f, err := boltlog.Fill(dir, logID)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		unfilled: boltlog.Unfilled,
		vacant:   boltlog.Vacant,
		setAside: boltlog.SetAside,
		aside:    boltlog.Aside,
		branches: func(dir string) (says []string, err error) {
			all, err := boltlog.Branches(dir)
			for _, b := range all {
				says = append(says, b.String())
			}
			return says, err
		},
		inBranches: boltlog.BranchUsage,

		directory: true,
	},
}

// scheme matches the scheme of an address. A single letter before a colon is not a scheme.
var scheme = regexp.MustCompile(`^([a-z][a-z0-9+-]+):`)

// find returns the backend for the scheme of an address, and the address without the scheme.
func find(address string) (of backend, place string, err error) {
	name, place := directories, address
	if m := scheme.FindStringSubmatch(address); m != nil {
		name, place = m[1], strings.TrimPrefix(address, m[0])
	}
	of, ok := backends[name]
	if !ok {
		return backend{}, "", fmt.Errorf("this program knows no log of the kind %q. Give a directory (one whose name has a colon as ./%s)",
			name, address)
	}
	return of, place, nil
}

// Check returns an error unless the address is valid. It does not access the log.
func Check(address string) error {
	_, _, err := find(address)
	return err
}

// ErrNoDirectory is the error of Dir when the log at the address is not in a directory.
var ErrNoDirectory = errors.New("it is in no directory")

// Dir returns the directory of a log, in which other parts of the program may store files. If the log is not in a
// directory, it returns ErrNoDirectory.
func Dir(address string) (string, error) {
	of, place, err := find(address)
	if err != nil {
		return "", err
	}
	if !of.directory {
		return "", fmt.Errorf("the log %s: %w", address, ErrNoDirectory)
	}
	return place, nil
}

// Place returns where a log is, for messages to users: its directory, or its address if it is not in a directory.
func Place(address string) string {
	if dir, err := Dir(address); err == nil {
		return dir
	}
	return address
}

// Log opens a log for writing, and creates it if there is none. Errors come from the backend: [store.HeldError] when
// another process writes the log, [store.ErrNoRoom], [store.ErrCorrupt], [store.LossError], [events.ErrNewer].
func Log(address string, options store.Options) (store.Opened, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.forWriting(place, options)
}

// Archive opens a log for reading. It returns fs.ErrNotExist if there is no log, and a [store.HeldError] if a process
// writes it.
func Archive(address string) (store.Archive, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.readOnly(place)
}

// Verify reads a whole log and checks everything that must hold. It returns [store.ErrCorrupt] with the first bad
// sequence, or a read error. It calls progress from time to time with the number of bytes read and the total, unless
// progress is nil. has lists records, with their chain values (hash over all records so far), that are known from
// elsewhere: the log is damaged if it lacks one, or has another chain value there.
func Verify(ctx context.Context, address string, progress func(done, total int64), has ...store.Head) (store.Report, error) {
	of, place, err := find(address)
	if err != nil {
		return store.Report{}, err
	}
	return of.verify(ctx, place, progress, has...)
}

// Exists reports whether there is a log at the address.
func Exists(address string) (bool, error) {
	of, place, err := find(address)
	if err != nil {
		return false, err
	}
	return of.exists(place)
}

// Key returns the secret key of a log; fs.ErrNotExist if it has none.
func Key(address string) (events.Key, error) {
	of, place, err := find(address)
	if err != nil {
		return events.Key{}, err
	}
	return of.key(place)
}

// Fill begins to build a log from the files of another replica, or continues an interrupted Fill. It returns
// fs.ErrExist if there is already a log, and a [store.HeldError] if another process fills or writes it.
func Fill(address, logID string) (store.Filling, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.fill(place, logID)
}

// Unfilled reports whether the address has a directory that Fill began to build, and that End has not completed.
func Unfilled(address string) (bool, error) {
	of, place, err := find(address)
	if err != nil {
		return false, err
	}
	return of.unfilled(place)
}

// Vacant returns an error unless there is nothing at the address, or only what an interrupted Fill has left.
func Vacant(address string) error {
	of, place, err := find(address)
	if err != nil {
		return err
	}
	return of.vacant(place)
}

// SetAside shortens a log: it then ends with the last batch that ends at or before record through (0: no log remains).
// It keeps the later records in a folder with this name within the log's directory (a branch). After an interrupted
// call, no function opens the log until SetAside is called again with the same arguments ([Aside] returns them). It
// returns a [store.HeldError] if another process writes the log.
func SetAside(ctx context.Context, address string, through events.Sequence, folder string) error {
	of, place, err := find(address)
	if err != nil {
		return err
	}
	return of.setAside(ctx, place, through, folder)
}

// Aside returns the arguments `through` and `folder` of a SetAside that a crash interrupted; is is false if there was
// none.
func Aside(address string) (through events.Sequence, folder string, is bool, err error) {
	of, place, err := find(address)
	if err != nil {
		return 0, "", false, err
	}
	return of.aside(place)
}

// BranchName returns the name of the folder in which SetAside keeps records of an epoch (one life of the log), from
// record first on.
func BranchName(epoch uint64, first events.Sequence) string { return boltlog.BranchName(epoch, first) }

// Branches returns a sentence for operators about each folder in which SetAside has kept records of the log.
func Branches(address string) ([]string, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.branches(place)
}

// BranchUsage returns the number of folders in which SetAside has kept records of a log, and the total size of their
// files.
func BranchUsage(address string) (branches int, bytes int64, err error) {
	of, place, err := find(address)
	if err != nil {
		return 0, 0, err
	}
	return of.inBranches(place)
}

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

// backend holds the functions of one kind of log. Each gets the address without the scheme.
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
	directory  bool // place is a directory, where other parts of the program may store files
}

// directories is the scheme of an address without one.
const directories = "bolt"

// backends holds all kinds of logs by scheme.
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

// scheme matches the scheme of an address. A single letter is no scheme.
var scheme = regexp.MustCompile(`^([a-z][a-z0-9+-]+):`)

// find returns the backend of an address, and the address without the scheme.
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

// Check returns an error unless the address is valid. It does not access the disk.
func Check(address string) error {
	_, _, err := find(address)
	return err
}

// ErrNoDirectory: the log of the address is not in a directory.
var ErrNoDirectory = errors.New("it is in no directory")

// Dir returns the directory of the log, where other parts of the program may store files. It returns ErrNoDirectory
// when the log has none.
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

// Place returns where a log is, for people: its directory, or its address when it has none.
func Place(address string) string {
	if dir, err := Dir(address); err == nil {
		return dir
	}
	return address
}

// Log opens a log for writing, or creates it. Errors come from the backend: [store.HeldError] when another process
// writes the log, [store.ErrNoRoom], [store.ErrCorrupt], [store.LossError], [events.ErrNewer].
func Log(address string, options store.Options) (store.Opened, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.forWriting(place, options)
}

// Archive opens a log for reading. It returns fs.ErrNotExist when there is none, and a [store.HeldError] when a process
// writes it.
func Archive(address string) (store.Archive, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.readOnly(place)
}

// Verify reads a whole log and checks everything that must hold. It returns [store.ErrCorrupt] with the first bad
// sequence, or a read error. It calls progress now and then, unless it is nil, with the number of bytes read and the
// total. has lists heads that were recorded elsewhere: the log is damaged if it has another chain value at one of them,
// or ends before it.
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

// Key returns the secret key of a log; fs.ErrNotExist when there is none.
func Key(address string) (events.Key, error) {
	of, place, err := find(address)
	if err != nil {
		return events.Key{}, err
	}
	return of.key(place)
}

// Fill begins to make a log of what another replica of it has, where there is none, or goes on with that. The error is
// fs.ErrExist when there is a log, and [store.HeldError] when another process fills or writes it.
func Fill(address, logID string) (store.Filling, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.fill(place, logID)
}

// Unfilled reports whether Fill began and did not come to its End.
func Unfilled(address string) (bool, error) {
	of, place, err := find(address)
	if err != nil {
		return false, err
	}
	return of.unfilled(place)
}

// Vacant returns an error if the place has anything but what a Fill that did not end has left.
func Vacant(address string) error {
	of, place, err := find(address)
	if err != nil {
		return err
	}
	return of.vacant(place)
}

// SetAside keeps what a log has behind the record through as a branch, a folder of that name in its directory. The log
// ends before it then; with 0, no log remains. A call that was interrupted is made again with what [Aside] returns; until
// then nothing opens the log. It returns a [store.HeldError] when another process writes it.
func SetAside(ctx context.Context, address string, through events.Sequence, folder string) error {
	of, place, err := find(address)
	if err != nil {
		return err
	}
	return of.setAside(ctx, place, through, folder)
}

// Aside returns what an interrupted SetAside was called with; false if there is none.
func Aside(address string) (through events.Sequence, folder string, is bool, err error) {
	of, place, err := find(address)
	if err != nil {
		return 0, "", false, err
	}
	return of.aside(place)
}

// BranchName returns the name of the folder for the records of an epoch from the record first on.
func BranchName(epoch uint64, first events.Sequence) string { return boltlog.BranchName(epoch, first) }

// Branches says for each branch of a log which records it has.
func Branches(address string) ([]string, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.branches(place)
}

// BranchUsage returns how many branches a log has, and the bytes of their files.
func BranchUsage(address string) (branches int, bytes int64, err error) {
	of, place, err := find(address)
	if err != nil {
		return 0, 0, err
	}
	return of.inBranches(place)
}

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

// backend is one kind of log. Each function gets the address behind the scheme.
type backend struct {
	forWriting func(place string, options store.Options) (store.Opened, error)
	readOnly   func(place string) (store.Archive, error)
	verify     func(ctx context.Context, place string, progress func(done, total int64), has ...store.Head) (store.Report, error)
	exists     func(place string) (bool, error)
	key        func(place string) (events.Key, error)
	fill       func(place, logID string) (store.Filling, error)
	unfilled   func(place string) (bool, error)
	directory  bool // place is one, in which those who work with the log leave files of their own
}

// directories is the scheme of an address that has none.
const directories = "bolt"

// backends are all kinds of logs that this program knows, by the scheme of their addresses.
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

		directory: true,
	},
}

// scheme is how an address begins that says which kind of log it is of. One letter alone is no scheme.
var scheme = regexp.MustCompile(`^([a-z][a-z0-9+-]+):`)

// find is the backend of an address, and the address behind the scheme.
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

// Check checks the form of an address. It does not look at the disk.
func Check(address string) error {
	_, _, err := find(address)
	return err
}

// ErrNoDirectory is of an address whose log is in no directory.
var ErrNoDirectory = errors.New("it is in no directory")

// Dir is the directory of the log, in which those who work with it leave files of their own. The error is
// ErrNoDirectory when the log has none.
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

// Place is where a log is, in words for people: its directory, or its address when it has none.
func Place(address string) string {
	if dir, err := Dir(address); err == nil {
		return dir
	}
	return address
}

// Log opens a log for writing, and makes it if there is none. The errors are those of the backend: [store.HeldError]
// when another process writes it, [store.ErrNoRoom], [store.ErrCorrupt], [store.LossError], [events.ErrNewer].
func Log(address string, options store.Options) (store.Opened, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.forWriting(place, options)
}

// Archive opens a log for reading. The error is fs.ErrNotExist when there is none, and [store.HeldError] when a process
// writes it.
func Archive(address string) (store.Archive, error) {
	of, place, err := find(address)
	if err != nil {
		return nil, err
	}
	return of.readOnly(place)
}

// Verify reads a whole log and checks all that must hold. Its error is [store.ErrCorrupt] with the first bad sequence,
// or one of reading. Progress is called now and then with the bytes that are done and those there are; nil for no call.
// The heads in has were noted elsewhere: a log that went another way, or ends before them, is damaged.
func Verify(ctx context.Context, address string, progress func(done, total int64), has ...store.Head) (store.Report, error) {
	of, place, err := find(address)
	if err != nil {
		return store.Report{}, err
	}
	return of.verify(ctx, place, progress, has...)
}

// Exists reports whether there is a log.
func Exists(address string) (bool, error) {
	of, place, err := find(address)
	if err != nil {
		return false, err
	}
	return of.exists(place)
}

// Key is the secret of a log; fs.ErrNotExist when there is none.
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

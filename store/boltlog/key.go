package boltlog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/regular"
)

// keyName is the name of the file with the log's key: 32 random bytes. Without it, a copy of the log can still be
// read, verified and replayed; a controller that runs on such a copy makes a new key.
const keyName = "KEY"

// Key implements store.Opened: it returns the log's secret key. If the log has none, it stores the key in the options,
// or else a random one, durably; made reports that. If the log's key is not the key in the options, the error is
// store.ErrOtherKey.
func (l *Log) Key() (key events.Key, made bool, err error) {
	wanted := l.options.Key
	switch key, err = ReadKey(l.dir); {
	case err == nil && wanted != nil && key != *wanted:
		return events.Key{}, false, fmt.Errorf("%w: %s is key %s, want %s",
			store.ErrOtherKey, keyName, key.ID(), wanted.ID())
	case !errors.Is(err, fs.ErrNotExist):
		return key, false, err
	case wanted != nil:
		key = *wanted
	default:
		_, _ = rand.Read(key[:]) // it never returns an error
	}
	if err := disk.WriteFile(filepath.Join(l.dir, keyName), key[:]); err != nil {
		return events.Key{}, false, fmt.Errorf("make the key of the log: %w", err)
	}
	return key, true, nil
}

// ReadKey returns the key of the log in the directory; fs.ErrNotExist if it has none. It refuses a key file that every
// user may read. Group access is allowed, because a kubelet may give the files of a volume to the pod's group.
func ReadKey(dir string) (key events.Key, err error) {
	path := filepath.Join(dir, keyName)
	f, err := regular.Open(path)
	if err != nil {
		return key, fmt.Errorf("read the key of the log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return key, fmt.Errorf("read the key of the log: %w", err)
	case info.Mode().Perm()&0o007 != 0:
		return key, fmt.Errorf("every user may read %s (mode %#o): mend that with 'chmod 600 %s'; if another user may have read it and the log, "+
			"remove it, and the next start makes a new one", path, info.Mode().Perm(), path)
	case info.Size() != int64(len(key)):
		return key, fmt.Errorf("%s has %d bytes, and a key has %d: put back the one that belongs to the log, or remove it, "+
			"and the next start makes a new one", path, info.Size(), len(key))
	}
	if _, err := f.ReadAt(key[:], 0); err != nil {
		return key, fmt.Errorf("read the key of the log: %w", err)
	}
	return key, nil
}

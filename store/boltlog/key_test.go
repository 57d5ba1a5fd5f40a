package boltlog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

func TestTheKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "KEY")
	var keys []events.Key
	var news []bool
	for i := range 4 {
		if i == 2 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		log, err := boltlog.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		key, made, err := log.Key()
		if err := errors.Join(err, log.Close()); err != nil {
			t.Fatal(err)
		}
		keys, news = append(keys, key), append(news, made)
	}
	if !news[0] || news[1] || !news[2] || news[3] {
		t.Errorf("it is made by the opens %v, want the first, and the first after it was lost", news)
	}
	if keys[0] != keys[1] || keys[1] == keys[2] || keys[2] != keys[3] || keys[0] == (events.Key{}) {
		t.Error("the key is not the one that was made, or not a new one after it was lost")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("KEY has the mode %v, want 0600 (%v)", info.Mode(), err)
	}
}

func TestAKeyThatIsNotRefused(t *testing.T) {
	for _, row := range []struct {
		name    string
		mode    os.FileMode
		bytes   int
		refused string // part of the error; empty for none
	}{
		{"as it is made", 0o600, 32, ""},
		{"opened to the group, as a kubelet does with volumes that have one", 0o660, 32, ""},
		{"that anybody may read", 0o644, 32, "chmod 600"},
		{"cut off", 0o600, 31, "put back the one that belongs to the log"},
		{"empty", 0o600, 0, "put back the one that belongs to the log"},
		{"with a line end", 0o600, 33, "put back the one that belongs to the log"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "KEY")
			if err := errors.Join(os.WriteFile(path, make([]byte, row.bytes), 0o600), os.Chmod(path, row.mode)); err != nil {
				t.Fatal(err)
			}
			log, err := boltlog.Open(dir, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, made, err := log.Key()
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			if made {
				t.Error("a new one is made in its place")
			}
			if (err != nil) != (row.refused != "") || (err != nil && !strings.Contains(err.Error(), row.refused)) {
				t.Errorf("error %v, want one that says %q", err, row.refused)
			}
		})
	}
	if _, err := boltlog.ReadKey(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v of a directory without a key", err)
	}
}

// TestAKeyThatIsGiven: a log without a key takes the given one. A log with another key refuses it, and keeps its own.
func TestAKeyThatIsGiven(t *testing.T) {
	dir, given, other := t.TempDir(), events.Key{1}, events.Key{2}
	for _, row := range []struct {
		wants *events.Key
		made  bool
		err   error
	}{{&given, true, nil}, {&given, false, nil}, {&other, false, store.ErrOtherKey}, {nil, false, nil}} {
		log, err := boltlog.Open(dir, store.Options{Key: row.wants})
		if err != nil {
			t.Fatal(err)
		}
		key, made, err := log.Key()
		if made != row.made || !errors.Is(err, row.err) || err == nil && key != given {
			t.Errorf("it wants %v: made %t, %v, the key that was given: %t", row.wants != nil, made, err, key == given)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

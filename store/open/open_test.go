package open_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestOneLogByEachOfItsAddresses: a log written by one address can be read by the other.
func TestOneLogByEachOfItsAddresses(t *testing.T) {
	dir := t.TempDir()
	log, err := open.Log("bolt:"+dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.NewWriter(t, log)
	w.Create()
	w.Durable(storetest.Pod("job-a", 1))
	key, made, err := log.Key()
	if err != nil || !made {
		t.Fatal(made, err)
	}
	if _, err := open.Archive(dir); !errors.As(err, new(*store.HeldError)) {
		t.Errorf("a log that is written is opened for reading: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{dir, "bolt:" + dir} {
		if of, err := open.Dir(address); err != nil || of != dir || open.Place(address) != dir {
			t.Errorf("%s is in %s, %s for people: %v", address, of, open.Place(address), err)
		}
		if there, err := open.Exists(address); err != nil || !there {
			t.Errorf("%s: %t, %v", address, there, err)
		}
		archive, err := open.Archive(address)
		if err != nil {
			t.Fatal(err)
		}
		if head := archive.Head(); head.Sequence != 2 {
			t.Errorf("%s ends with record %d", address, head.Sequence)
		}
		if err := archive.Close(); err != nil {
			t.Error(err)
		}
		if report, err := open.Verify(t.Context(), address, nil); err != nil || report.Records != 2 {
			t.Errorf("%s: %d records, %v", address, report.Records, err)
		}
		if read, err := open.Key(address); err != nil || read != key {
			t.Errorf("%s has another key (%v)", address, err)
		}
	}
}

// TestAnAddressThatNoBackendHas: every function returns an error, and creates no file.
func TestAnAddressThatNoBackendHas(t *testing.T) {
	t.Chdir(t.TempDir())
	const address = "s3:bucket/log"
	_, opened := open.Log(address, store.Options{})
	_, archive := open.Archive(address)
	_, verified := open.Verify(t.Context(), address, nil)
	_, exists := open.Exists(address)
	_, key := open.Key(address)
	_, dir := open.Dir(address)
	for _, err := range []error{opened, archive, verified, exists, key, dir, open.Check(address)} {
		if err == nil || !strings.Contains(err.Error(), `no log of the kind "s3"`) {
			t.Errorf("it says %v", err)
		}
	}
	if made, err := filepath.Glob("*"); err != nil || len(made) > 0 {
		t.Errorf("there is %v", made)
	}
}

// TestADirectoryIsAnAddress: any name of a directory. A relative name with a colon needs ./ before it.
func TestADirectoryIsAnAddress(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, address := range []string{"log", "./a:b", "/nowhere/a:b", "C:log", "bolt:log"} {
		if err := open.Check(address); err != nil {
			t.Error(err)
		}
		if _, err := open.Archive(address); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

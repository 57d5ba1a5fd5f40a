package boltlog_test

import (
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

func TestSecondOpenerIsToldWhoHoldsTheLog(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	storetest.NewWriter(t, log).Create()
	check := func(what string, err error) {
		t.Helper()
		var held *store.HeldError
		if !errors.Is(err, store.ErrHeld) || !errors.As(err, &held) {
			t.Fatalf("%s: %v, want ErrHeld", what, err)
		}
		own := strings.Join(os.Args, " ") // held.Command is its beginning
		if held.PID != os.Getpid() || held.Command == "" || !strings.HasPrefix(own, held.Command) {
			t.Errorf("%s: the holder is %d (%s), want this process", what, held.PID, held.Command)
		}
		for _, want := range []string{strconv.Itoa(os.Getpid()), "--server", "LOCK"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", what, err, want)
			}
		}
	}
	_, err := boltlog.Open(dir, small)
	check("open to write", err)
	_, err = boltlog.OpenReadOnly(dir)
	check("open to read", err)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	openLog(t, dir, small)
}

func TestReadersKeepNobodyOut(t *testing.T) {
	dir, all := written(t, 20)
	if there, err := boltlog.Exists(dir); !there || err != nil {
		t.Errorf("there is a log: %t, %v", there, err)
	}
	var readers []*boltlog.ReadOnly
	for range 2 {
		r, err := boltlog.OpenReadOnly(dir)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
		readAll(t, "reader", r, all)
	}
	// A controller starts beside the readers and writes over pages that they may still need. They read right records,
	// or are told why there are no more. They never report damage.
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	for n := range 60 {
		w.Durable(storetest.Pod("job-a", n), storetest.Text("job-c", 500))
	}
	for _, r := range readers {
		n := 0
		for rec, err := range r.Read(t.Context(), 0) {
			if err != nil {
				if !errors.Is(err, store.ErrHeld) {
					t.Errorf("read beside a writer: %v, want ErrHeld", err)
				}
				break
			}
			if !reflect.DeepEqual(rec, all[n]) {
				t.Fatalf("record %d is not what was written", rec.Sequence)
			}
			n++
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	}
	openLog(t, dir, small)
}

func TestReaderOfWhatIsNotThere(t *testing.T) {
	for name, dir := range map[string]string{"no directory": t.TempDir() + "/none", "an empty one": t.TempDir()} {
		if there, err := boltlog.Exists(dir); there || err != nil {
			t.Errorf("%s: there is a log in it: %t, %v", name, there, err)
		}
		if _, err := boltlog.OpenReadOnly(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want that it does not exist", name, err)
		}
		if _, err := os.Stat(dir + "/LOCK"); err == nil {
			t.Errorf("%s: a reader made a lock file where there is no log", name)
		}
	}
}

func TestAnotherLogThanAskedFor(t *testing.T) {
	dir, _ := written(t, 3)
	options := small
	options.LogID = "0123456789abcdef"
	if _, err := boltlog.Open(dir, options); !errors.Is(err, store.ErrForeign) {
		t.Errorf("open: %v, want ErrForeign", err)
	}
	fresh := openLog(t, t.TempDir(), options)
	if id := fresh.Identity(); id.LogID != options.LogID {
		t.Errorf("a new log has the ID %s, want the one given", id.LogID)
	}
}

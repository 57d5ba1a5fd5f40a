package boltlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// shown keeps the groups that a hook was shown, and checks that each continues the group before it.
type shown struct {
	t      *testing.T
	dir    string
	head   store.Head
	groups int
	files  []events.Sequence // first records of the files that a group began
	stored [][]byte
}

func (s *shown) before(g store.Group) error {
	s.groups++
	hash := g.Before.Hash
	for i, stored := range g.Stored {
		r, err := events.DecodeRecord(stored)
		if err != nil || r.Sequence != g.Before.Sequence+1+events.Sequence(i) {
			s.t.Errorf("the group behind record %d has in place %d record %d, %v", g.Before.Sequence, i, r.Sequence, err)
		}
		if hash, err = hash.Next(stored); err != nil {
			s.t.Error(err)
		}
		s.stored = append(s.stored, bytes.Clone(stored))
	}
	switch {
	case g.Before != s.head:
		s.t.Errorf("a group begins behind %+v, the one before it ended with %+v", g.Before, s.head)
	case g.After.Hash != hash || g.After.Sequence != g.Before.Sequence+events.Sequence(len(g.Stored)):
		s.t.Errorf("the group ends with %+v, its records with chain value %s", g.After, hash)
	}
	first := g.Before.Sequence + 1
	if g.BeginsFile {
		s.files = append(s.files, first)
		if _, err := os.Lstat(filepath.Join(s.dir, fmt.Sprintf("%020d.db", uint64(first)))); first > 1 && err == nil {
			s.t.Errorf("the file of record %d is there before the hook has said yes", first)
		}
	}
	s.head = g.After
	return nil
}

// TestTheHookSeesEachGroupBeforeTheDisk: the hook sees every record once, in order, in stored form. A new file is made
// only after the hook has seen its first group.
func TestTheHookSeesEachGroupBeforeTheDisk(t *testing.T) {
	dir := t.TempDir()
	s := &shown{t: t, dir: dir}
	options := small
	options.LogID, options.Before = "log-a", s.before
	log := openLog(t, dir, options)
	w := storetest.NewWriter(t, log)
	w.Create()
	for log.NextFile() < 2 || len(s.files) < 3 {
		w.Durable(storetest.Text("job-a", 9000), storetest.Pod("job-b", 1))
	}
	groups := s.groups
	if err := errors.Join(log.SetOffset("nats", 3), log.Close()); err != nil {
		t.Fatal(err)
	}
	if s.groups != groups {
		t.Error("the hook was called for offsets alone")
	}
	log = openLog(t, dir, small)
	if log.Head() != s.head || events.Sequence(len(s.stored)) != s.head.Sequence {
		t.Errorf("the log ends with %+v, the hook saw %d records and %+v", log.Head(), len(s.stored), s.head)
	}
	n := 0
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if stored, err := events.AppendRecord(nil, &r); err != nil || !bytes.Equal(stored, s.stored[n]) {
			t.Errorf("record %d is not what the hook saw: %v", r.Sequence, err)
		}
		n++
	}
	files, err := log.Files()
	if err != nil || len(files) != len(s.files) {
		t.Fatalf("%d files, %v; the hook saw %d begin", len(files), err, len(s.files))
	}
	for i, f := range files {
		if f.First != s.files[i] {
			t.Errorf("a file begins with record %d, the hook saw %d", f.First, s.files[i])
		}
	}
}

// TestAGroupThatTheHookRefusesIsNotWritten: later groups are not written either, and the log says why.
func TestAGroupThatTheHookRefusesIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	options := small
	var refuse error
	calls := 0
	options.Before = func(store.Group) error { calls++; return refuse }
	log := openLog(t, dir, options)
	w := storetest.NewWriter(t, log)
	w.Create()
	good := log.Head()
	refuse = fmt.Errorf("a rival claimed it: %w", store.ErrFenced)
	err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 1)))
	if !errors.Is(err, store.ErrFailed) || !errors.Is(err, store.ErrFenced) {
		t.Errorf("the commit says %v, want ErrFailed and ErrFenced", err)
	}
	refuse = nil
	if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 2))); !errors.Is(err, store.ErrFailed) {
		t.Errorf("the next commit says %v, want ErrFailed", err)
	}
	if calls != 2 || log.Head() != good {
		t.Errorf("after %d calls the head is %+v, want 2 calls and %+v", calls, log.Head(), good)
	}
	_ = log.Close() // its error repeats the failure
	again, err := boltlog.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Head() != good {
		t.Errorf("opened again the log ends with %+v, want %+v", again.Head(), good)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

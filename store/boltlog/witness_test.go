package boltlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// refused checks that a log is not opened to write, and that Verify says why. Readers are told the same, and read the
// records that there are.
func refused(t *testing.T, what, dir, words string, records int) {
	t.Helper()
	_, err := boltlog.Open(dir, small)
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: open to write: %v, want %q", what, err, words)
	}
	if _, err := boltlog.Verify(context.Background(), dir, nil); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: verify: %v, want %q", what, err, words)
	}
	if records == 0 {
		return
	}
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatalf("%s: open to read: %v", what, err)
	}
	defer log.Close()
	if damage := log.Damage(); len(damage) != 1 || !strings.Contains(damage[0].Error(), words) {
		t.Errorf("%s: a reader is told %v, want %q", what, damage, words)
	}
	n := 0
	var ended error
	for _, err := range log.Read(t.Context(), 0) {
		if ended = err; err == nil {
			n++
		}
	}
	if n != records || !errors.Is(ended, store.ErrCorrupt) {
		t.Errorf("%s: %d records can be read, and %v; want %d and why there are no more", what, n, ended, records)
	}
}

// TestALogThatWentBackIsRefused puts an older copy of the data in place, with one file beside it that proves later
// records.
func TestALogThatWentBackIsRefused(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 30 {
		w.Durable(storetest.Pod("job-a", n))
	}
	old := copyDir(t, dir)
	had := int(log.Head().Sequence)
	for n := range 300 {
		w.Durable(storetest.Pod("job-a", n), storetest.Text("job-c", 300))
	}
	if err := log.SaveSnapshot(t.Context(), store.Snapshot{Identity: log.Identity(), Head: log.Head()}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openLog(t, dir, small).Close(); err != nil { // this start writes HEAD
		t.Fatal(err)
	}
	for pattern, words := range map[string]string{
		"HEAD": "as the file HEAD beside it says", "CLOSED": "the log was closed with record",
		"*.snap": "there is a snapshot of record", "00000000000000000001.idx": "there is an index of a file that ended with record",
	} {
		c := copyDir(t, old)
		for _, name := range []string{"HEAD", "LOCK"} {
			if err := os.Remove(filepath.Join(c, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("there is no %s: %v", pattern, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(c, filepath.Base(path)), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		refused(t, pattern, c, words, had)
	}
}

// TestAnOffsetBeyondTheHeadIsNotBelieved: a consumer's offset is greater than the log's last record.
func TestAnOffsetBeyondTheHeadIsNotBelieved(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	if err := log.SetOffset("nats", 1000); err != nil {
		t.Fatal(err)
	}
	w.Durable(storetest.Pod("job-a", 1))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, "offset", dir, `the consumer "nats" had got through record 1000`, 0)
}

// TestAFork: two logs have a common beginning. The longer one gets the file HEAD of the other.
func TestAFork(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	w.Durable(storetest.Pod("job-a", 1))
	fork := copyDir(t, dir)
	w.Durable(storetest.Pod("job-a", 2))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openLog(t, dir, small).Close(); err != nil {
		t.Fatal(err)
	}
	other := openLog(t, fork, small)
	v := storetest.NewWriter(t, other)
	for n := range 5 {
		v.Durable(storetest.Pod("job-b", n))
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(fork, "HEAD"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, "a fork", fork, "the chain value behind record 3 is", 0)
}

// TestGoingOnAfterALoss: a log without its last records is opened if the loss is accepted. The files that prove the
// loss stay until another epoch has begun, even if processes end before that. From then on they prove nothing.
func TestGoingOnAfterALoss(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	w.Durable(storetest.Pod("job-a", 1))
	old := copyDir(t, dir)
	for n := range 400 {
		w.Durable(storetest.Pod("job-a", n), storetest.Text("job-c", 300))
	}
	had := log.Head()
	if err := log.SaveSnapshot(t.Context(), store.Snapshot{Identity: log.Identity(), Head: had}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	tell := []string{"CLOSED", "00000000000000000001.idx"} // besides the snapshot
	snapshots, err := filepath.Glob(filepath.Join(dir, "*.snap"))
	if err != nil || len(snapshots) != 1 {
		t.Fatal(snapshots, err)
	}
	for _, name := range append(tell, filepath.Base(snapshots[0])) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(old, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	accept := small
	accept.AcceptLoss = true
	for range 2 { // the first process ends before it begins an epoch
		log = openLog(t, old, accept)
		if losses := log.Losses(); len(losses) != 3 || losses[0] != (events.Loss{
			Witness: events.WitnessFiles, Epoch: 1, Sequence: had.Sequence, Hash: had.Hash,
		}) {
			t.Fatalf("losses: %v", losses)
		}
		if err := log.GoOn(); err == nil {
			t.Error("it goes on in the epoch whose records are lost")
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		refused(t, "after a process that only opened it", old, "the log was closed with record", 0)
	}
	log = openLog(t, old, accept)
	storetest.NewWriter(t, log).Durable(storetest.Item{
		Stream: events.Controller, Kind: events.KindEpochChanged, Facts: &events.EpochChanged{Epoch: 2, Reason: events.EpochRestored},
	})
	crashed := copyDir(t, old)
	if err := log.GoOn(); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(crashed, "00000000000000000001.idx")); err != nil {
		t.Fatal(err) // it does not say which epoch it is of
	}
	for what, dir := range map[string]string{"it": old, "one that crashed between": crashed} {
		log := openLog(t, dir, small)
		if id := log.Identity(); id.Epoch != 2 {
			t.Errorf("%s is %s", what, id)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.snap")); len(left) != 0 {
			t.Errorf("%s keeps snapshots of records that are lost: %v", what, left)
		}
		if _, err := boltlog.Verify(t.Context(), dir, nil); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

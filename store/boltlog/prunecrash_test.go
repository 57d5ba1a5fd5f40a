package boltlog_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestAnOpenFinishesWhatWasPruned: a process is killed at each step between the Pruned record and the last deletion.
// The next open deletes the rest, and nothing else.
func TestAnOpenFinishesWhatWasPruned(t *testing.T) {
	for _, row := range []struct {
		name    string
		deleted int // files that were deleted before the kill
		grown   bool
	}{
		{"killed before the first deletion", 0, false},
		{"killed between two deletions", 1, false},
		{"killed between the deletion of a file and that of its index", 1, false},
		{"killed when another file had begun behind the record", 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, _ := written(t, 600)
			log := openLog(t, dir, small)
			w := storetest.NewWriter(t, log)
			all := files(t, dir, ".db")
			before := events.Sequence(1 << 60)
			if len(all) < 5 {
				t.Fatalf("%d files are too few", len(all))
			}
			p, err := log.Condemn(t.Context(), before)
			if err != nil || len(p.Files) != len(all)-1 {
				t.Fatalf("condemned %+v, %v", p, err)
			}
			if p, err = log.Condemn(t.Context(), p.Files[3].First); err != nil {
				t.Fatal(err)
			}
			checkCondemned(t, log, dir, p)
			w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: p})
			for first := log.Head().Sequence; row.grown; {
				w.Durable(storetest.Text("job-a", 3000))
				if log.NextFile() > first {
					w.Durable(storetest.Text("job-a", 10))
					break
				}
			}
			killed := asKilled(t, dir)
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range all[:row.deleted] {
				if err := os.Remove(filepath.Join(killed, filepath.Base(name))); err != nil {
					t.Fatal(err)
				}
			}
			again := openLog(t, killed, small)
			if got := again.First(); got != p.First {
				t.Errorf("the log begins with record %d, want %d", got, p.First)
			}
			left, err := filepath.Glob(filepath.Join(killed, "*.db"))
			if err != nil || len(left) != len(files(t, dir, ".db"))-len(p.Files) {
				t.Errorf("%v are left, %v", left, err)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			if report, err := boltlog.Verify(t.Context(), killed, nil); err != nil || report.First != p.First {
				t.Errorf("verify: %+v, %v", report, err)
			}
			indexes, err := filepath.Glob(filepath.Join(killed, "*.idx"))
			for _, name := range indexes {
				if !slices.Contains(left, strings.TrimSuffix(name, ".idx")+".db") {
					t.Errorf("%s is left without its file, %v", name, err)
				}
			}
		})
	}
}

// checkCondemned compares a Pruned record with the files on the disk.
func checkCondemned(t *testing.T, log *boltlog.Log, dir string, p *events.Pruned) {
	t.Helper()
	if len(p.Files) != 3 || p.From != p.Files[0].First || p.FromTime == 0 || p.ThroughTime < p.FromTime {
		t.Fatalf("condemned %+v", p)
	}
	for i, name := range files(t, dir, ".db")[:3] {
		next := append(p.Files, events.PrunedFile{First: p.First})[i+1].First
		info, err := os.Stat(name)
		if err != nil || p.Files[i].Hash != recordsHash(t, log, p.Files[i].First, next-1) || p.Files[i].Bytes != uint64(info.Size()) {
			t.Errorf("%s has other records than %+v, %v", name, p.Files[i], err)
		}
	}
	if after, err := log.Chain(p.First - 1); err != nil || after != p.ChainAfter {
		t.Errorf("the chain value behind what goes is %s, %v, not %s", after, err, p.ChainAfter)
	}
	if p.ChainBefore != (events.Hash{}) {
		t.Errorf("the chain value before record 1 is %s", p.ChainBefore)
	}
	plain, err := os.ReadFile(files(t, dir, ".db")[0])
	if err != nil {
		t.Fatal(err)
	}
	for {
		first, err := log.Pack(t.Context()) // files that are to be pruned are not packed
		if errors.Is(err, store.ErrPruned) || first == 0 {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(files(t, dir, ".db")[0])
	if err != nil || !bytes.Equal(plain, content) {
		t.Error("a file that is condemned was packed")
	}
}

// recordsHash computes the hash of a file's records as in docs/format.md.
func recordsHash(t *testing.T, log store.Reader, first, last events.Sequence) events.Hash {
	t.Helper()
	before, err1 := log.Chain(first - 1)
	behind, err2 := log.Chain(last)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	all := before[:]
	for r, err := range log.Read(t.Context(), first) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Sequence > last {
			break
		}
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(binary.BigEndian.AppendUint64(all, uint64(len(stored))), stored...)
	}
	return sha256.Sum256(append(all, behind[:]...))
}

// TestTheHashOfAFileIsThatOfItsRecords: a file has the same hash before and after it is packed. A damaged file has
// none, and is pruned all the same.
func TestTheHashOfAFileIsThatOfItsRecords(t *testing.T) {
	dir, _ := written(t, 600)
	plain, packed := copyDir(t, dir), copyDir(t, dir)
	log := openLog(t, packed, small)
	for {
		first, err := log.Pack(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			break
		}
	}
	want, err := log.Condemn(t.Context(), log.Head().Sequence)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, files(t, plain, ".db")[1], 3*pageSize+100, 4)
	damaged := openLog(t, plain, small)
	got, err := damaged.Condemn(t.Context(), damaged.Head().Sequence)
	if err != nil || len(got.Files) < 3 || len(got.Files) != len(want.Files) {
		t.Fatalf("condemned %+v, %v", got, err)
	}
	for i, f := range got.Files {
		expected := want.Files[i].Hash
		if i == 1 {
			expected = events.Hash{}
		}
		if f.Hash != expected || f.Bytes <= want.Files[i].Bytes {
			t.Errorf("file %d: plain %+v, packed %+v", i, f, want.Files[i])
		}
	}
}

// TestVerifyComparesWhatWasPruned: the Pruned record has another chain value than the one before the oldest file. Such
// a log is damaged.
func TestVerifyComparesWhatWasPruned(t *testing.T) {
	dir, _ := written(t, 300)
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	p, err := log.Condemn(t.Context(), log.Head().Sequence/2)
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	p.ChainAfter[0] ^= 1
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: p})
	if _, err := log.Prune(t.Context(), p.First); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Verify(t.Context(), dir, nil); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "goes on from") {
		t.Errorf("verify: %v", err)
	}
}

// TestReadersBesideAPrune: questions about streams are answered while the files are deleted.
func TestReadersBesideAPrune(t *testing.T) {
	dir, _ := written(t, 900)
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	p, err := log.Condemn(t.Context(), log.Head().Sequence)
	if err != nil {
		t.Fatal(err)
	}
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: p})
	ended := make(chan error, 1)
	go func() {
		_, err := log.Prune(t.Context(), p.First)
		ended <- err
	}()
	for done := false; !done; {
		select {
		case err := <-ended:
			if done = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		for _, s := range []events.Stream{events.JobStream("job-a"), events.JobStream("nobody")} {
			if _, err := log.Newest(s, 0); err != nil {
				t.Fatalf("newest of %s: %v", s, err)
			}
			for _, err := range log.ReadStream(t.Context(), s, 0, store.Forward) {
				if err != nil && !errors.Is(err, store.ErrPruned) {
					t.Fatalf("read %s: %v", s, err)
				}
			}
		}
		if _, err := log.Find("default", "job-a"); err != nil {
			t.Fatalf("find: %v", err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// asKilled copies the directory of an open log as a kill would leave it. The log may rename the index of a sealed file
// meanwhile. A file that is gone when it is to be copied is left out, as a kill could leave it out, too.
func asKilled(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "log")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

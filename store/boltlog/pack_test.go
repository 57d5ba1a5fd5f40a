package boltlog_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// packAll packs all sealed files of a log, and returns how many.
func packAll(t *testing.T, log *boltlog.Log) (n int) {
	t.Helper()
	for {
		first, err := log.Pack(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			return n
		}
		n++
	}
}

// packed is like written, with all sealed files packed.
func packed(t *testing.T, batches int) (dir string, all []events.Record) {
	t.Helper()
	dir, all = written(t, batches)
	log := openLog(t, dir, small)
	packAll(t, log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, all
}

func TestPackedFilesAreTheSameLog(t *testing.T) {
	dir, all := written(t, 400)
	was, err := boltlog.Verify(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := openLog(t, dir, small)
	var hashes []events.Hash
	for at := range was.Head.Sequence {
		h, err := log.Chain(at + 1)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, h)
	}
	before := sizes(t, dir)
	if n := packAll(t, log); n != len(before)-1 || n < 3 {
		t.Fatalf("%d of %d files are packed", n, len(before))
	}
	same := func(what string, log store.Reader) {
		t.Helper()
		if got := records(t, log); !reflect.DeepEqual(got, all) {
			t.Fatalf("%s: the records are not what they were", what)
		}
		if readAll(t, what, log, all) != harmless {
			t.Errorf("%s: damage", what)
		}
	}
	same("the log that packed", log)
	for i, want := range hashes {
		if got, err := log.Chain(events.Sequence(i) + 1); err != nil || got != want {
			t.Fatalf("the chain value behind record %d is %s, error %v, and was %s", i+1, got, err, want)
		}
	}
	if first, err := log.Pack(t.Context()); first != 0 || err != nil {
		t.Errorf("packed again: %d, %v", first, err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	is, err := boltlog.Verify(t.Context(), dir, nil)
	if err != nil || is.Head != was.Head || is.Records != was.Records || len(is.Notes) > 0 {
		t.Errorf("verify: %+v, %v; it was %+v", is, err, was)
	}
	reader, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	same("a reader", reader)
	if s, ok, err := reader.LoadSnapshot(t.Context()); err != nil || !ok || s.Head.Sequence == 0 {
		t.Errorf("the snapshot is gone: %v", err)
	}
	after := sizes(t, dir)
	for i := range before[:len(before)-1] {
		if after[i] > before[i]/2 {
			t.Errorf("file %d: packed %d bytes, plain %d", i, after[i], before[i])
		}
	}
	again := openLog(t, dir, small)
	if first, err := again.Pack(t.Context()); first != 0 || err != nil {
		t.Errorf("packed again after a start: %d, %v", first, err)
	}
	same("a new start", again)
}

func sizes(t *testing.T, dir string) (all []int64) {
	t.Helper()
	for _, path := range files(t, dir, ".db") {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Size())
	}
	return all
}

// TestReadersGoOnWhileTheirFileIsPacked: each reader reads some records, then a file is packed, then it reads the rest.
func TestReadersGoOnWhileTheirFileIsPacked(t *testing.T) {
	dir, all := written(t, 400)
	random := rand.New(rand.NewPCG(11, 12))
	log := openLog(t, dir, small)
	packings := 0
	for range 30 {
		from := random.IntN(len(all))
		stop := from + random.IntN(len(all)-from)
		at := from
		for r, err := range log.Read(t.Context(), all[from].Sequence) {
			if err != nil || !reflect.DeepEqual(r, all[at]) {
				t.Fatalf("from %d, packed at %d: record %d is %d, error %v", from, stop, at, r.Sequence, err)
			}
			if at++; at == stop && packings < 100 {
				if first, err := log.Pack(t.Context()); err != nil {
					t.Fatal(first, err)
				}
				packings++
			}
		}
		if at != len(all) {
			t.Fatalf("from %d: %d records, want %d", from, at, len(all))
		}
	}
}

// TestEveryByteOfAPackedFileCounts: whichever byte is changed, no reader gets a wrong record.
func TestEveryByteOfAPackedFileCounts(t *testing.T) {
	dir, all := packed(t, 400)
	random := rand.New(rand.NewPCG(13, 14))
	paths := files(t, dir, ".db")
	rounds := 150 / effort.Step(4)
	var counts [2]int
	for range rounds {
		c := copyDir(t, dir)
		path := filepath.Join(c, filepath.Base(paths[random.IntN(len(paths)-1)]))
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := random.Int64N(int64(len(content)))
		for content[at] == 0 { // most bytes of such a small file belong to no page
			at = random.Int64N(int64(len(content)))
		}
		flip(t, path, at, byte(1<<random.IntN(8)))
		counts[judge(t, "flip packed "+filepath.Base(path)+" at "+itoa(at), c, all)]++
		if err := os.RemoveAll(c); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d flips were harmless, %d were found", counts[harmless], counts[detected])
	if counts[detected] < rounds/2 {
		t.Errorf("only %d of %d flips were found", counts[detected], rounds)
	}
}

// TestADamagedFileStaysPlain: a damaged file is left as it is, and the next file is packed.
func TestADamagedFileStaysPlain(t *testing.T) {
	dir, all := written(t, 400)
	at := slices.IndexFunc(all, func(r events.Record) bool { return r.Kind == events.KindPodChanged })
	rewriteRecord(t, dir, &all[at]) // its checksum is right, but not the chain
	log := openLog(t, dir, small)
	before := sizes(t, dir)
	if first, err := log.Pack(t.Context()); first != 1 || !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a damaged file: %d, %v", first, err)
	}
	packAll(t, log)
	after := sizes(t, dir)
	if after[0] != before[0] || after[1] >= before[1] {
		t.Errorf("the files had %v bytes, and have %v", before[:2], after[:2])
	}
	if temps, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(temps) > 0 {
		t.Errorf("there is %v", temps)
	}
}

// TestPackingEndsWithItsContextOrTheLog: it leaves no temporary file.
func TestPackingEndsWithItsContextOrTheLog(t *testing.T) {
	dir, all := written(t, 400)
	log := openLog(t, dir, small)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := log.Pack(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
	result := make(chan error)
	go func() {
		for {
			if first, err := log.Pack(t.Context()); err != nil || first == 0 {
				result <- err
				return
			}
		}
	}()
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	if err := <-result; err != nil && !errors.Is(err, store.ErrClosed) {
		t.Error(err)
	}
	if temps, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(temps) > 0 {
		t.Errorf("there is %v", temps)
	}
	if judge(t, "packed in part", dir, all) != harmless {
		t.Error("packed in part, the log is damaged")
	}
}

// TestAPrunedFileDoesNotComeBack: files are pruned while they are packed.
func TestAPrunedFileDoesNotComeBack(t *testing.T) {
	dir, _ := written(t, 600)
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	cut, err := log.Prunable(log.Head().Sequence)
	if err != nil {
		t.Fatal(err)
	}
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: cut}})
	result := make(chan error)
	go func() {
		for {
			if first, err := log.Pack(t.Context()); err != nil || first == 0 {
				result <- err
				return
			}
		}
	}()
	if _, err := log.Prune(t.Context(), cut); err != nil {
		t.Error(err)
	}
	if err := <-result; err != nil && !errors.Is(err, store.ErrPruned) {
		t.Error(err)
	}
	if err := log.Close(); err != nil { // a file goes when its last reader has ended
		t.Error(err)
	}
	if paths := files(t, dir, ".db"); slices.ContainsFunc(paths, func(path string) bool { return first(t, path) < cut }) {
		t.Errorf("pruned before %d, there are %v", cut, paths)
	}
}

// TestALargeBatchIsPackedInParts: a batch larger than a part is packed in several parts. It can be read from any of its
// records on.
func TestALargeBatchIsPackedInParts(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	var items []storetest.Item
	for n := range 900 {
		items = append(items, storetest.Text("job-a", 1000+n))
	}
	w.Durable(items...)
	w.Durable(storetest.Pod("job-b", 1))
	all := records(t, log)
	before := sizes(t, dir)
	if packAll(t, log) == 0 {
		t.Fatal("nothing is sealed")
	}
	if after := sizes(t, dir); after[0] >= before[0] {
		t.Errorf("the first file had %d bytes, and has %d", before[0], after[0])
	}
	for _, from := range []int{0, 1, 300, 700, 900} {
		at := from
		for r, err := range log.Read(t.Context(), all[from].Sequence) {
			if err != nil || !reflect.DeepEqual(r, all[at]) {
				t.Fatalf("from %d: record %d, error %v", from, r.Sequence, err)
			}
			at++
		}
		if at != len(all) {
			t.Errorf("from %d: records through %d of %d", from, at, len(all))
		}
	}
	if _, err := boltlog.Verify(t.Context(), dir, nil); err != nil {
		t.Error(err)
	}
}

package loop_test

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// fileBytes is so small that a busy cluster fills a file in some 10,000 records: the size of the states, not fileBytes,
// decides when a file is full.
const fileBytes = 32 << 10

// stepBytes is the most bytes of states in a turn. It is so small that a restatement takes many turns.
const stepBytes = 4 << 10

// restating returns a busy cluster with a loop that restates in small steps.
func restating(records int) joblog.Config {
	cfg := joblog.Busy(records)
	cfg.Restate = stepBytes
	return cfg
}

// file is a summary of the records of one file.
type file struct {
	first, mark   events.Sequence // of the file; and the record that says that the file stands alone
	records       int
	bytes, states int   // as stored
	steps         []int // for each batch: bytes of added states whose streams have no other record in it
}

// filesIn returns the summaries of a log's files.
func filesIn(t *testing.T, log store.Reader) (files []*file) {
	t.Helper()
	var f *file
	added := map[events.Stream]int{}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if f == nil || r.Stream == events.Controller && r.Kind == events.KindStateStored {
			f = &file{first: r.Sequence}
			files = append(files, f)
		}
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		f.records++
		f.bytes += len(stored)
		switch {
		case r.Kind == events.KindFileRestated:
			f.mark = r.Sequence
		case r.Kind == events.KindStateStored:
			f.states += len(stored)
			if r.Stream != events.Controller {
				added[r.Stream] = len(stored)
			}
		default:
			delete(added, r.Stream)
		}
		if r.Last {
			step := 0
			for _, n := range added {
				step += n
			}
			if len(added) > 1 { // a single state may be larger
				f.steps = append(f.steps, step)
			}
			clear(added)
		}
	}
	return files
}

// TestAFileHoldsTenTimesItsStates: each finished file says that it stands alone, and at most a tenth of it is states.
// It is hardly longer than this rule asks for. No turn adds more states than it may.
func TestAFileHoldsTenTimesItsStates(t *testing.T) {
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, memlog.FileBytes(fileBytes))
	if _, err := joblog.Write(log, restating(25_000)); err != nil {
		t.Fatal(err)
	}
	files := filesIn(t, log)
	if len(files) < 4 {
		t.Fatalf("there are only %d files", len(files))
	}
	for _, f := range files[1 : len(files)-1] {
		t.Logf("file %d: %d records, %d bytes, of them %d of states; whole at %d, steps %v", f.first, f.records, f.bytes, f.states, f.mark, f.steps)
		switch {
		case f.mark == 0:
			t.Errorf("file %d was ended and does not stand alone", f.first)
		case f.bytes < 10*f.states:
			t.Errorf("file %d has %d bytes, %d of them are states: more than a tenth", f.first, f.bytes, f.states)
		case f.bytes > 11*f.states+fileBytes:
			t.Errorf("file %d has %d bytes and only %d of states: another should have begun", f.first, f.bytes, f.states)
		case len(f.steps) < 3:
			t.Errorf("file %d was restated in steps of %v bytes", f.first, f.steps)
		case slices.Max(f.steps) > stepBytes:
			t.Errorf("file %d was restated in steps of %v bytes, which should be at most %d", f.first, f.steps, stepBytes)
		}
	}
}

// TestAStartAfterAKillAtEachMoment: the log is cut behind every few batches, also within a restatement. The start folds
// from the newest file that stands alone by then, and has the same states as a fold of the whole log.
func TestAStartAfterAKillAtEachMoment(t *testing.T) {
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, memlog.FileBytes(fileBytes))
	if _, err := joblog.Write(log, restating(9_000)); err != nil {
		t.Fatal(err)
	}
	log.Commit(1 << 30)
	whole := projector.NewWorld()
	batches, compared, open, begun := 0, 0, 0, events.Sequence(0)
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		whole.Apply(&r)
		if !r.Last {
			continue
		}
		batches++
		newest, alone := whole.Restated()
		if newest == 0 || newest == alone && batches%97 != 0 {
			continue
		}
		read := &readFrom{Log: log.Crash(batches)}
		got, err := loop.Recover(t.Context(), read)
		if err != nil {
			t.Fatal(err)
		}
		compared++
		if newest != alone {
			open++
		}
		if begun = max(begun, read.first); read.first != max(alone, 1) {
			t.Fatalf("killed behind record %d, the start reads from record %d on; the newest file that stands alone begins with %d", r.Sequence, read.first, alone)
		}
		if read.oldest < newest {
			t.Fatalf("killed behind record %d, the start looks for a file in record %d, before the newest file, %d", r.Sequence, read.oldest, newest)
		}
		compareWorlds(t, r.Sequence, whole, got)
	}
	if compared < 20 || open < 5 || begun < 1_000 {
		t.Errorf("%d starts were compared, %d of them with a file that did not stand alone; the last read from record %d on", compared, open, begun)
	}
}

// TestALogThatBeginsWithAWholeFileStarts: the log's older files were pruned, and it has no snapshot. It starts all the
// same.
func TestALogThatBeginsWithAWholeFileStarts(t *testing.T) {
	dir := t.TempDir()
	log, err := boltlog.Open(dir, store.Options{RotateBytes: fileBytes})
	if err != nil {
		t.Fatal(err)
	}
	l, err := joblog.Write(log, restating(9_000))
	if err != nil {
		t.Fatal(err)
	}
	_, alone := l.World().Restated()
	if alone < 1_000 {
		t.Fatalf("the newest file that stands alone begins with record %d", alone)
	}
	at := log.Append(pruned(l, alone), true)
	if <-at.Done(); at.Err() != nil {
		t.Fatal(at.Err())
	}
	if first, err := log.Prune(t.Context(), alone); err != nil || first != alone {
		t.Fatalf("pruned up to record %d, %v; want %d", first, err, alone)
	}
	want := l.World()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if log, err = boltlog.Open(dir, store.Options{RotateBytes: fileBytes}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	got, err := loop.Recover(t.Context(), withoutSnapshot{log})
	if err != nil {
		t.Fatal(err)
	}
	compareWorlds(t, want.Head, want, got)
}

// pruned returns a batch with the record of a pruning, folded into the loop's world.
func pruned(l *loop.Loop, first events.Sequence) events.Batch {
	w := l.World()
	r := events.Record{
		Header: events.Header{
			Sequence: w.Head + 1, Previous: w.Previous(events.Controller), Time: w.Now, Stream: events.Controller, Kind: events.KindPruned, Last: true,
		},
		Facts: &events.Pruned{First: first},
	}
	w.Apply(&r)
	return events.Batch{Records: []events.Record{r}}
}

// compareWorlds compares the states of all streams.
func compareWorlds(t *testing.T, at events.Sequence, want, got *projector.World) {
	t.Helper()
	byID := func(a, b events.Stream) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) }
	if all, stating := got.Streams(), got.Stating(); !slices.Equal(slices.SortedFunc(slices.Values(all), byID), slices.SortedFunc(slices.Values(stating), byID)) {
		t.Fatalf("killed behind record %d, the start knows %d streams and states %d", at, len(all), len(stating))
	}
	if !slices.Equal(want.Streams(), got.Streams()) {
		t.Fatalf("killed behind record %d, the start knows %d streams, not %d", at, len(got.Streams()), len(want.Streams()))
	}
	for _, s := range want.Streams() {
		x, xn, _ := want.StreamState(s)
		y, yn, _ := got.StreamState(s)
		if !bytes.Equal(x, y) || !bytes.Equal(xn, yn) {
			t.Fatalf("killed behind record %d, the start has another state of %s", at, s)
		}
	}
	if !bytes.Equal(want.ControllerFacts(), got.ControllerFacts()) {
		t.Fatalf("killed behind record %d, the start has another state of the controller", at)
	}
}

// readFrom notes from which record on a start reads the log, and how far back it searched for that record.
type readFrom struct {
	store.Log
	first, oldest events.Sequence
}

func (l *readFrom) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range l.Log.ReadStream(ctx, s, from, dir) {
			if l.oldest = r.Sequence; !yield(r, err) {
				return
			}
		}
	}
}

func (l *readFrom) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	l.first = from
	return l.Log.Read(ctx, from)
}

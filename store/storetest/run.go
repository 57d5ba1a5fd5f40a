package storetest

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Open creates an empty log for one test. If the backend has files, they must have at most 64 KiB. reopen closes the
// log, if it is open, and opens it again as the next process would; it may be called repeatedly. The test of the
// backend must close the log that is open at the end.
type Open func(t *testing.T) (log store.Log, reopen func() store.Log)

// Run tests everything that store.Log promises.
func Run(t *testing.T, open Open) {
	tests := []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"an empty log has an identity, no head and no records", emptyLog},
		{"record 1 must say the log's identity", firstRecord},
		{"sequences are dense and records come back as they were", readBack},
		{"a batch that does not continue the log is refused and fails it", brokenBatches},
		{"batches become durable in the order of their appends", commitOrder},
		{"a batch that nobody waits for becomes durable all the same", notSoon},
		{"a batch that nobody waits for is durable before a later one that somebody waits for", rides},
		{"a record larger than a page comes back whole", largeRecord},
		{"another epoch changes the identity, also after reopening", epochs},
		{"reading begins at any sequence", readFrom},
		{"reading ends when its context does", readCancelled},
		{"the chain value after each record is that of its prefix, after reopening too", chainValues},
		{"a reader that stops for long sees no gap and holds nobody up", longReader},
		{"readers beside the writer see whole batches and no gaps", concurrentReaders},
		{"wait returns when the head moves, and when it moved already", waits},
		{"wait ends with its context and with the log", waitEnds},
		{"a stream is read forwards and backwards, from any record, across files", streams},
		{"a stream that nobody wrote is empty", unknownStream},
		{"jobs are found by name, newest first, after reopening too", find},
		{"offsets survive reopening", offsets},
		{"a snapshot comes back, and the newest wins", snapshots},
		{"a snapshot of another log, epoch or prefix is ignored", foreignSnapshots},
		{"the log continues after reopening, in the same chain", continues},
		{"each opening has a higher term than those before it, and than those that records tell of", terms},
		{"close commits what was appended", closeCommits},
		{"after close everything fails with ErrClosed", afterClose},
		{"the next file begins at a batch end and never in the past", nextFile},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open) })
	}
}

var ctx = context.Background()

// fill appends `batches` batches with records of several Jobs, and waits until they are durable. It returns all these
// records.
func fill(w *Writer, batches int) []events.Record {
	var all []events.Record
	for n := range batches {
		items := []Item{Pod("job-a", n), Pod("job-b", n), Pod("job-a", n)}
		if n%7 == 0 {
			items = append(items, Pod("job-rare", n))
		}
		b := w.Batch(items...)
		all = append(all, b.Records...)
		w.log.Append(b, n%3 == 0)
	}
	return append(all, w.Durable(Pod("job-a", batches)).Records...)
}

// collect returns all records that seq yields. An error fails the test.
func collect(t *testing.T, seq iter.Seq2[events.Record, error]) []events.Record {
	t.Helper()
	var out []events.Record
	for r, err := range seq {
		if err != nil {
			t.Fatalf("read after %d records: %v", len(out), err)
		}
		out = append(out, r)
	}
	return out
}

// firstError reads until the first error; it returns the number of records before the error, and the error.
func firstError(seq iter.Seq2[events.Record, error]) (int, error) {
	n := 0
	for _, err := range seq {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func equal(t *testing.T, what string, got, want []events.Record) {
	t.Helper()
	if len(got) == len(want) && reflect.DeepEqual(got, want) {
		// This fast comparison suffices if the records are equal; cmp is slow, and only needed to show a difference.
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		if len(diff) > 4000 {
			diff = diff[:4000] + "…"
		}
		t.Fatalf("%s: %d records, want %d (-want +got):\n%s", what, len(got), len(want), diff)
	}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// chain computes the chain value (hash over all records) after the last of these records, which begin with record 1.
func chain(t *testing.T, records []events.Record) events.Hash {
	t.Helper()
	var h events.Hash
	for i := range records {
		stored, err := events.AppendRecord(nil, &records[i])
		if err != nil {
			t.Fatal(err)
		}
		if h, err = h.Next(stored); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

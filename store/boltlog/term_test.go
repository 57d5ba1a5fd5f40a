package boltlog

import (
	"errors"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

func termStarted(term uint64, previous events.Hash) storetest.Item {
	return storetest.Item{Stream: events.Controller, Kind: events.KindTermStarted, Facts: &events.TermStarted{Term: term, Previous: previous}}
}

// TestVerifyChecksTerms: terms must rise, and each must name the chain value of the log at its start. After a loss they
// may begin anew.
func TestVerifyChecksTerms(t *testing.T) {
	restored := storetest.Item{
		Stream: events.Controller, Kind: events.KindEpochChanged, Facts: &events.EpochChanged{Epoch: 2, Reason: events.EpochRestored},
	}
	rewound := storetest.Item{
		Stream: events.Controller, Kind: events.KindEpochChanged, Facts: &events.EpochChanged{Epoch: 2, Reason: events.EpochClusterRewound},
	}
	other := events.Hash{1}
	for _, row := range []struct {
		sentence string
		batch    func(found events.Hash) []storetest.Item // the last batch
		says     string                                   // empty: the log is whole
	}{
		{"the next term", func(found events.Hash) []storetest.Item { return []storetest.Item{termStarted(4, found)} }, ""},
		{"a later term", func(found events.Hash) []storetest.Item { return []storetest.Item{termStarted(9, found)} }, ""},
		{
			"behind other records of its batch",
			func(found events.Hash) []storetest.Item {
				return []storetest.Item{storetest.Pod("job-a", 1), storetest.Pod("job-b", 1), termStarted(4, found)}
			}, "",
		},
		{"the same term", func(found events.Hash) []storetest.Item { return []storetest.Item{termStarted(3, found)} }, "it starts term 3 after term 3"},
		{
			"another log", func(events.Hash) []storetest.Item { return []storetest.Item{termStarted(4, other)} },
			"it starts term 4 behind the chain value " + other.String(),
		},
		{
			"as if the log were new", func(events.Hash) []storetest.Item { return []storetest.Item{termStarted(4, events.Hash{})} },
			"it starts term 4 behind the chain value",
		},
		{"a lower term after a loss", func(found events.Hash) []storetest.Item { return []storetest.Item{restored, termStarted(2, found)} }, ""},
		{
			"a lower term in another epoch", func(found events.Hash) []storetest.Item { return []storetest.Item{rewound, termStarted(2, found)} },
			"it starts term 2 after term 3",
		},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			dir := t.TempDir()
			l, err := Open(dir, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w := storetest.NewWriter(t, l)
			w.Durable(storetest.Created(l.Identity()), termStarted(1, events.Hash{}))
			w.Durable(storetest.Pod("job-a", 0))
			w.Durable(termStarted(3, l.Head().Hash))
			w.Durable(row.batch(l.Head().Hash)...)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = Verify(t.Context(), dir, nil)
			if errors.Is(err, store.ErrCorrupt) != (row.says != "") || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("verify says %v, want %q", err, row.says)
			}
		})
	}
}

// TestTheHeadIsInTheTermOfTheRecords: the term in the file's head is never lower than that of the records.
func TestTheHeadIsInTheTermOfTheRecords(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.NewWriter(t, l)
	w.Durable(storetest.Created(l.Identity()), termStarted(1, events.Hash{}))
	w.Durable(termStarted(7, l.Head().Hash)) // as when a log is written again from another log's records
	if l.Term() != 7 {
		t.Errorf("behind a record of term 7 the log is in term %d", l.Term())
	}
	w.Durable(storetest.Pod("job-a", 0))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = Open(dir, store.Options{}); err != nil {
		t.Fatal(err)
	}
	if l.Term() != 8 || l.tail.head.term != 8 {
		t.Errorf("the next process is in term %d, its commits in %d; want 8", l.Term(), l.tail.head.term)
	}
	spoilt := l.tail.head
	spoilt.term = 6
	err = l.tail.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(headKey, spoilt.encode()) })
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), dir, nil); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "the head of the file says term 6, the records say 7") {
		t.Errorf("verify says %v", err)
	}
}

// TestATermGoesOnBehindPrunedRecords: the oldest file begins with the start of a term. Its chain value is compared
// although the records before it are pruned.
func TestATermGoesOnBehindPrunedRecords(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, store.Options{RotateBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.NewWriter(t, l)
	w.Durable(storetest.Created(l.Identity()), termStarted(1, events.Hash{}))
	for l.NextFile() == 1 {
		w.Durable(storetest.Text("job-a", 4000))
	}
	file := l.NextFile()
	w.Durable(termStarted(2, l.Head().Hash))
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: file}})
	if first, err := l.Prune(t.Context(), file); err != nil || first != file {
		t.Fatalf("pruned to %d, %v, want %d", first, err, file)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := Verify(t.Context(), dir, nil); err != nil || report.First != file {
		t.Errorf("verify says %+v, %v", report, err)
	}
}

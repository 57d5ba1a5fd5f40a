package loop_test

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// terms returns the terms that started in a log, each with the last record of the batch before it.
func (m *machine) terms() (all []events.TermStarted, found []events.Sequence) {
	m.t.Helper()
	var before, end events.Sequence
	for r, err := range m.log.Read(m.t.Context(), 1) {
		m.must(err)
		if f, ok := r.Facts.(*events.TermStarted); ok {
			all, found = append(all, *f), append(found, before)
		}
		if end = r.Sequence; r.Last {
			before = end
		}
	}
	return all, found
}

// TestEachProcessStartsATerm: the record of a term has the hash of the log as the process found it. That holds for a
// new log, after a clock that was set back, at the begin of a file, and after a process that appended nothing.
func TestEachProcessStartsATerm(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	m.do("job demo")
	m.do("start")
	m.log = m.log.Crash(1 << 30) // a process opens the log, and appends nothing
	m.now = m.now.Add(-time.Hour)
	m.do("start")
	m.do("synced")
	m.do("file")
	m.do("start")
	m.do("synced")
	all, found := m.terms()
	want := []uint64{1, 2, 4, 5}
	if len(all) != len(want) {
		t.Fatalf("the terms are %v, want %v", all, want)
	}
	for i, f := range all {
		hash, err := m.log.Chain(found[i])
		m.must(err)
		if f.Term != want[i] || f.Previous != hash {
			t.Errorf("term %d started behind %s, want term %d behind record %d, %s", f.Term, f.Previous, want[i], found[i], hash)
		}
	}
	if all[0].Previous != (events.Hash{}) {
		t.Errorf("the log began behind %s", all[0].Previous)
	}
	world, err := loop.Recover(t.Context(), m.log)
	m.must(err)
	if world.Term != 5 || m.log.Term() != 5 {
		t.Errorf("the log says term %d, it was opened in %d", world.Term, m.log.Term())
	}
	m.check()
}

// TestATermIsKnownFromASnapshotAndAFile: a reader that begins with either knows in which term the log is.
func TestATermIsKnownFromASnapshotAndAFile(t *testing.T) {
	for _, row := range []struct {
		sentence string
		snapshot bool
	}{{"a snapshot", true}, {"a file that stands alone", false}} {
		t.Run(row.sentence, func(t *testing.T) {
			m := newMachine(t)
			m.do("start")
			m.do("synced")
			m.do("start")
			m.do("synced")
			m.do("job demo")
			if row.snapshot {
				m.loop.Snapshot()
				s, ok := m.loop.TakeSnapshot()
				if !ok {
					t.Fatal("there is no snapshot")
				}
				m.must(m.log.SaveSnapshot(t.Context(), s))
			} else {
				m.do("file")
				m.do("job demo suspend")
				m.do("wait 1s")
			}
			from := &readFrom{Log: m.log}
			world, err := loop.Recover(t.Context(), from)
			m.must(err)
			if world.Term != 2 || from.first < 5 {
				t.Errorf("read from record %d on: term %d, want 2", from.first, world.Term)
			}
		})
	}
}

// TestTheTermsOfALogRise: if the next term of a log is not higher, several processes wrote the log at a time. Such a
// log is not folded.
func TestTheTermsOfALogRise(t *testing.T) {
	for _, row := range []struct {
		sentence string
		second   uint64
		loss     bool
		ok       bool
	}{
		{"a higher one", 9, false, true},
		{"the same one", 4, false, false},
		{"a lower one", 2, false, false},
		{"a lower one, after a loss: terms are lost, too", 2, true, true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
			records := []events.Facts{&events.LogCreated{LogID: "0f0f", Epoch: 1}, &events.TermStarted{Term: 4}}
			kinds := []events.Kind{events.KindLogCreated, events.KindTermStarted}
			if row.loss {
				records = append(records, &events.EpochChanged{Epoch: 2, Reason: events.EpochRestored})
				kinds = append(kinds, events.KindEpochChanged)
			}
			records, kinds = append(records, &events.TermStarted{Term: row.second}), append(kinds, events.KindTermStarted)
			for i, f := range records {
				n := events.Sequence(i + 1)
				commit := log.Append(events.Batch{Records: []events.Record{{
					Header: events.Header{Sequence: n, Previous: n - 1, Time: epoch, Stream: events.Controller, Kind: kinds[i], Critical: true, Last: true},
					Facts:  f, FactsSalt: events.Salt{1},
				}}}, true)
				if <-commit.Done(); commit.Err() != nil {
					t.Fatal(commit.Err())
				}
			}
			if _, err := loop.Recover(t.Context(), log); (err == nil) != row.ok {
				t.Errorf("the log is folded with %v", err)
			}
		})
	}
}

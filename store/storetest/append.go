package storetest

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

func emptyLog(t *testing.T, open Open) {
	log, _ := open(t)
	if id := log.Identity(); id.LogID == "" || id.Epoch != 1 {
		t.Errorf("identity %q, want some ID and epoch 1", id)
	}
	if head := log.Head(); head != (store.Head{}) {
		t.Errorf("head %+v, want none", head)
	}
	if got := collect(t, log.Read(ctx, 0)); len(got) != 0 {
		t.Errorf("read %d records, want none", len(got))
	}
	if next := log.NextFile(); next != 1 {
		t.Errorf("next file begins with %d, want 1", next)
	}
	if _, ok, err := log.LoadSnapshot(ctx); ok || err != nil {
		t.Errorf("snapshot %v, error %v, want none", ok, err)
	}
	if at, err := log.Offset("nats"); at != 0 || err != nil {
		t.Errorf("offset %d, error %v, want 0", at, err)
	}
	if err := log.Room(256 << 10); err != nil {
		t.Errorf("room for a turn: %v", err)
	}
}

func firstRecord(t *testing.T, open Open) {
	items := map[string]func(events.Identity) Item{
		"another log's":    func(id events.Identity) Item { id.LogID += "x"; return Created(id) },
		"another epoch's":  func(id events.Identity) Item { id.Epoch++; return Created(id) },
		"no creation":      func(events.Identity) Item { return Pod("job-a", 1) },
		"an epoch's start": func(events.Identity) Item { return epoch(2) },
	}
	for name, item := range items {
		log, _ := open(t)
		w := NewWriter(t, log)
		if err := Outcome(t, w.Append(true, item(log.Identity()))); err == nil {
			t.Errorf("record 1 is %s: it was taken, want an error", name)
		}
		if head := log.Head(); head.Sequence != 0 {
			t.Errorf("record 1 is %s: head %d, want none", name, head.Sequence)
		}
	}
}

func epoch(n uint64) Item {
	return Item{
		Stream: events.Controller, Kind: events.KindEpochChanged,
		Facts: &events.EpochChanged{Epoch: n, Reason: events.EpochRestored},
	}
}

func readBack(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	want := append(collect(t, log.Read(ctx, 0)), fill(w, 300)...)
	for i, r := range want {
		if r.Sequence != events.Sequence(i+1) {
			t.Fatalf("record %d has sequence %d", i+1, r.Sequence)
		}
	}
	equal(t, "read", collect(t, log.Read(ctx, 0)), want)
	head := log.Head()
	if last := want[len(want)-1]; head.Sequence != last.Sequence || head.Time != last.Time || head.Hash != chain(t, want) {
		t.Errorf("head %+v, want sequence %d, time %d, hash %s", head, last.Sequence, last.Time, chain(t, want))
	}
	log = reopen()
	equal(t, "read after reopening", collect(t, log.Read(ctx, 0)), want)
	if log.Head() != head {
		t.Errorf("head after reopening %+v, want %+v", log.Head(), head)
	}
}

func brokenBatches(t *testing.T, open Open) {
	breaks := map[string]func(*events.Batch){
		"empty":                         func(b *events.Batch) { b.Records = nil },
		"with a gap before it":          func(b *events.Batch) { shift(b, 1) },
		"that repeats the last record":  func(b *events.Batch) { shift(b, -1) },
		"with a gap in it":              func(b *events.Batch) { b.Records[1].Sequence++ },
		"with two times":                func(b *events.Batch) { b.Records[1].Time++ },
		"without its end mark":          func(b *events.Batch) { b.Records[1].Last = false },
		"with an end mark in between":   func(b *events.Batch) { b.Records[0].Last = true },
		"with a wrong previous pointer": func(b *events.Batch) { b.Records[1].Previous-- },
		"that creates the log again": func(b *events.Batch) {
			b.Records[1].Kind, b.Records[1].Facts = events.KindLogCreated, &events.LogCreated{LogID: "x", Epoch: 1}
		},
		"that goes back an epoch": func(b *events.Batch) {
			b.Records[1].Kind, b.Records[1].Facts = events.KindEpochChanged, &events.EpochChanged{Epoch: 1}
		},
	}
	for name, spoil := range breaks {
		log, _ := open(t)
		w := NewWriter(t, log)
		w.Create()
		w.Durable(Pod("job-a", 1), Pod("job-a", 2))
		good := log.Head()
		b := w.Batch(Pod("job-a", 3), Pod("job-a", 4))
		spoil(&b)
		wantError(t, "batch "+name, Outcome(t, log.Append(b, true)), store.ErrFailed)
		wantError(t, "append after a batch "+name, Outcome(t, w.Append(true, Pod("job-a", 5))), store.ErrFailed)
		wantError(t, "room after a batch "+name, log.Room(1), store.ErrFailed)
		if got := log.Head(); got != good {
			t.Errorf("head after a batch %s: %+v, want %+v", name, got, good)
		}
	}
}

func shift(b *events.Batch, by int) {
	for i := range b.Records {
		b.Records[i].Sequence += events.Sequence(by)
	}
}

func commitOrder(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	var commits []store.Commit
	var lasts []events.Sequence
	for n := range 200 {
		b := w.Batch(Pod("job-a", n), Pod("job-b", n))
		commits, lasts = append(commits, log.Append(b, n%5 == 0)), append(lasts, b.Last())
		if got, want := commits[n].Bytes(), storedBytes(t, b); got != want {
			t.Fatalf("batch %d has %d bytes in stored form, and says %d", n, want, got)
		}
	}
	for i, c := range commits {
		Await(t, c)
		if head := log.Head(); head.Sequence < lasts[i] {
			t.Fatalf("batch %d is durable, but the head is %d, before its last record %d", i, head.Sequence, lasts[i])
		}
		for before := range i {
			select {
			case <-commits[before].Done():
			default:
				t.Fatalf("batch %d is durable before batch %d", i, before)
			}
		}
	}
}

func storedBytes(t *testing.T, b events.Batch) (total int) {
	for i := range b.Records {
		stored, err := events.AppendRecord(nil, &b.Records[i])
		if err != nil {
			t.Fatal(err)
		}
		total += len(stored)
	}
	return total
}

func notSoon(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	begin := time.Now()
	Await(t, w.Append(false, Pod("job-a", 1)))
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("durable after %v, want about 100 ms", took)
	}
}

func rides(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	first := w.Append(false, Pod("job-a", 1))
	Await(t, w.Append(true, Pod("job-a", 2)))
	select {
	case <-first.Done():
	default:
		t.Error("the earlier batch is not durable, the later is")
	}
}

func largeRecord(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	want := collect(t, log.Read(ctx, 0))
	for _, size := range []int{1, 1_900, 2_000, 4_096, 20_000, 300_000} {
		want = append(want, w.Durable(Pod("job-a", 1), Text("job-a", size), Pod("job-a", 2)).Records...)
	}
	equal(t, "read", collect(t, log.Read(ctx, 0)), want)
	equal(t, "read after reopening", collect(t, reopen().Read(ctx, 0)), want)
}

func epochs(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	id := log.Identity()
	w.Durable(Pod("job-a", 1), epoch(4))
	id.Epoch = 4
	if got := log.Identity(); got != id {
		t.Errorf("identity %v, want %v", got, id)
	}
	fill(w, 100)
	if got := reopen().Identity(); got != id {
		t.Errorf("identity after reopening %v, want %v", got, id)
	}
}

func nextFile(t *testing.T, open Open) {
	log, _ := open(t)
	w := NewWriter(t, log)
	w.Create()
	before := log.NextFile()
	for n := range 300 {
		next := w.Next()
		w.Append(false, Pod("job-a", n), Pod("job-a", n))
		after := log.NextFile()
		if after != before && after != w.Next() {
			t.Fatalf("after the batch %d to %d, the next file begins with %d", next, w.Next()-1, after)
		}
		before = after
	}
}

func terms(t *testing.T, open Open) {
	log, reopen := open(t)
	w := NewWriter(t, log)
	w.Create()
	before := log.Term()
	if before == 0 {
		t.Error("the first term is 0")
	}
	if log = reopen(); log.Term() <= before {
		t.Errorf("term %d after term %d", log.Term(), before)
	}
	later := log.Term() + 40
	NewWriter(t, log).Durable(Item{Stream: events.Controller, Kind: events.KindTermStarted, Facts: &events.TermStarted{Term: later, Previous: log.Head().Hash}})
	if log.Term() != later {
		t.Errorf("term %d, want the %d of the record", log.Term(), later)
	}
	if log = reopen(); log.Term() <= later {
		t.Errorf("term %d after a record of term %d", log.Term(), later)
	}
}

package livetail_test

import (
	"context"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/livetail"
	"github.com/jobledger/jobledger/store/storetest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

var (
	ctx      = context.Background()
	identity = events.Identity{LogID: "0123456789abcdef0123456789abcdef", Epoch: 1}
)

// TestContract runs the acceptance suite in two forms. With much kept, reads come from memory. With little kept, they
// pass from memory to the log and back.
func TestContract(t *testing.T) {
	for name, limit := range map[string]int{"all is kept": 0, "little is kept": 8 << 10} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) (store.Log, func() store.Log) {
				below := memlog.New(identity, memlog.FileBytes(16<<10))
				log := livetail.New(below, limit)
				t.Cleanup(func() { log.Close() })
				return log, func() store.Log {
					if err := log.Close(); err != nil {
						t.Fatal(err)
					}
					appended, _ := below.Batches()
					below = below.Crash(appended)
					log = livetail.New(below, limit)
					return log
				}
			})
		})
	}
}

func TestNothingIsReadBeforeItIsDurable(t *testing.T) {
	below := memlog.New(identity, memlog.Manual())
	log := livetail.New(below, 0)
	w := storetest.NewWriter(t, log)
	w.Append(true, storetest.Created(identity))
	w.Append(true, storetest.Pod("job-a", 1), storetest.Pod("job-a", 2))
	for _, want := range []events.Sequence{0, 1, 3} {
		if got := last(t, log, 1); got != want {
			t.Errorf("read to record %d, want %d", got, want)
		}
		below.Commit(1)
	}
	if memory, from := log.Served(); memory != 4 || from != 0 {
		t.Errorf("%d records from memory and %d from the log, want 4 and 0", memory, from)
	}
}

func TestWhoIsTooSlowReadsOnFromTheLog(t *testing.T) {
	log := livetail.New(memlog.New(identity), 32<<10)
	w := storetest.NewWriter(t, log)
	w.Create()
	w.Durable(storetest.Pod("job-a", 0), storetest.Pod("job-a", 1))
	want := events.Sequence(2)
	for r, err := range log.Read(ctx, 2) {
		if err != nil {
			t.Fatal(err)
		}
		if want == 2 { // the reader stops while the tail moves beyond it
			for n := range 200 {
				w.Durable(storetest.Pod("job-a", n))
			}
		}
		if r.Sequence != want {
			t.Fatalf("record %d, want %d", r.Sequence, want)
		}
		want++
	}
	if got := last(t, log, want); got != 203 {
		t.Fatalf("read to record %d, want 203", got)
	}
	if _, from := log.Served(); from == 0 {
		t.Error("no record came from the log, though the tail cannot hold so many")
	}
	before, _ := log.Served()
	if got := last(t, log, 200); got != 203 {
		t.Fatalf("read to record %d, want 203", got)
	}
	if memory, _ := log.Served(); memory-before != 4 {
		t.Errorf("%d of the newest 4 records came from memory", memory-before)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	log := livetail.New(memlog.New(identity), 1<<20)
	w := storetest.NewWriter(t, log)
	w.Create()
	for range 100 {
		w.Durable(storetest.Text("job-a", 100<<10))
	}
	head := log.Head().Sequence
	before, _ := log.Served()
	for from := head; from > 0; from-- {
		for _, err := range log.Read(ctx, from) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if memory, _ := log.Served(); memory-before < 3 || memory-before > 10 {
		t.Errorf("%d batches of 100 KiB are kept in 1 MiB, want between 3 and 10", memory-before)
	}
	w.Durable(storetest.Text("job-a", 4<<20))
	before, _ = log.Served()
	if last(t, log, head+1); before == func() uint64 { memory, _ := log.Served(); return memory }() {
		t.Error("a batch larger than the limit is not kept, want the newest one always")
	}
}

// last reads from a record on, and returns the last record's sequence; 0 when there was none.
func last(t *testing.T, log store.Reader, from events.Sequence) (at events.Sequence) {
	t.Helper()
	for r, err := range log.Read(ctx, from) {
		if err != nil {
			t.Fatal(err)
		}
		at = r.Sequence
	}
	return at
}

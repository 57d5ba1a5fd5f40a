package publish_test

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// TestALogIsWrittenAgainFromItsStream: record for record and byte for byte, in the same batches, with the same chain.
// Only its files and commits may differ.
func TestALogIsWrittenAgainFromItsStream(t *testing.T) {
	for _, contentType := range []string{nats.Protobuf, nats.JSON} {
		t.Run(contentType, func(t *testing.T) {
			from, to := t.TempDir(), t.TempDir()
			log := openLog(t, from, 64<<10)
			for _, b := range natstest.Source(t, 3000) {
				appendBatch(t, log, b)
			}
			appendBatch(t, log, anotherEpoch(t, log))
			s := natstest.NewServer(t).Start()
			p := natstest.Publish(t, s, log, func(c *publish.Config) { c.ContentType = contentType })
			p.CaughtUp(t)
			wantWhole(t, s, log)
			p.Stop()

			again := openLog(t, to, 256<<10)
			var b events.Batch
			for _, e := range messages(t, s) {
				if b.Records = append(b.Records, e.Record); e.Record.Last {
					appendBatch(t, again, b)
					b = events.Batch{}
				}
			}
			wantSameRecords(t, log, again)
			for _, l := range []*boltlog.Log{log, again} {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			first, err1 := boltlog.Verify(t.Context(), from, nil)
			second, err2 := boltlog.Verify(t.Context(), to, nil)
			if err1 != nil || err2 != nil || first.Head != second.Head || first.Records != second.Records || first.Identity != second.Identity {
				t.Errorf("the log is %+v (%v), written again %+v (%v)", first, err1, second, err2)
			}
			if first.Files < 2 || first.Files == second.Files || first.Identity.Epoch != 2 {
				t.Errorf("%d files, then %d, in epoch %d: this proves too little", first.Files, second.Files, first.Identity.Epoch)
			}
		})
	}
}

func openLog(t *testing.T, dir string, fileBytes int64) *boltlog.Log {
	t.Helper()
	log, err := boltlog.Open(dir, store.Options{LogID: life.LogID, RotateBytes: fileBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

func appendBatch(t *testing.T, log store.Log, b events.Batch) {
	t.Helper()
	if err := log.Room(1 << 20); err != nil {
		t.Fatal(err)
	}
	commit := log.Append(b, true)
	<-commit.Done()
	if err := commit.Err(); err != nil {
		t.Fatal(err)
	}
}

// anotherEpoch returns the batch that begins another epoch of a log.
func anotherEpoch(t *testing.T, log store.Reader) events.Batch {
	t.Helper()
	head := log.Head()
	h := events.Header{
		Sequence: head.Sequence + 1, Time: head.Time + 1, Stream: events.Controller, Kind: events.KindEpochChanged, Critical: true, Last: true,
	}
	for r, err := range log.ReadStream(t.Context(), events.Controller, 0, store.Backward) {
		if err != nil {
			t.Fatal(err)
		}
		h.Previous = r.Sequence
		break
	}
	return events.Batch{Records: []events.Record{{Header: h, Facts: &events.EpochChanged{Epoch: 2}, FactsSalt: events.Salt{4, 2}}}}
}

func wantSameRecords(t *testing.T, log, again store.Reader) {
	t.Helper()
	all := [2][][]byte{}
	for i, l := range []store.Reader{log, again} {
		for r, err := range l.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			stored, err := events.AppendRecord(nil, &r)
			if err != nil {
				t.Fatal(err)
			}
			all[i] = append(all[i], stored)
		}
	}
	if !slices.EqualFunc(all[0], all[1], func(a, b []byte) bool { return string(a) == string(b) }) || len(all[0]) < 3000 {
		t.Errorf("the records are not the same: %d and %d", len(all[0]), len(all[1]))
	}
}

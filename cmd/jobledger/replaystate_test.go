package main

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// morningRecords are those of a log with small files, so that states are stored.
func morningRecords(t *testing.T) []events.Record {
	t.Helper()
	return recordsOf(t, func(log store.Log) { morning(t, log) })
}

// recordsOf are the records of a log with small files.
func recordsOf(t *testing.T, write func(store.Log)) []events.Record {
	t.Helper()
	log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1}, memlog.FileBytes(1500))
	write(log)
	var records []events.Record
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// edit changes one number in a stored state.
func edit(t *testing.T, r *events.Record) {
	t.Helper()
	encoded := r.Facts.(*events.StoredState).Encoded
	var err error
	if r.Stream == events.Controller {
		var s pb.WorldState
		err = proto.Unmarshal(encoded, &s)
		s.Newest[1]++
		encoded, _ = proto.Marshal(&s)
	} else {
		var s pb.JobState
		err = proto.Unmarshal(encoded, &s)
		if s.GetStub() != nil {
			s.GetStub().Version++
		} else {
			s.Ordinal++
		}
		encoded, _ = proto.Marshal(&s)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Facts = &events.StoredState{Encoded: encoded}
}

// TestReplayNoticesEachEditedState: the state of the controller, of a busy Job, and of a Job without a record in the
// file.
func TestReplayNoticesEachEditedState(t *testing.T) {
	records := recordsOf(t, func(log store.Log) { season(t, log, 20, nil) })
	states := 0
	for i := range records {
		if records[i].Kind != events.KindStateStored {
			continue
		}
		states++
		changed := append([]events.Record(nil), records...)
		edit(t, &changed[i])
		found := play(t, replay.New(), oneByOne(changed))
		if len(found) != 1 || found[0].Sequence != records[i].Sequence || len(found[0].Fields) == 0 {
			t.Errorf("the state of %s in record %d was edited; replay finds %v", records[i].Stream, records[i].Sequence, found)
		}
	}
	f := replay.New()
	if found := play(t, f, oneByOne(records)); len(found) > 0 || f.Summary().States != uint64(states) {
		t.Errorf("of the log as it was: %v, %+v, with %d states", found, f.Summary(), states)
	}
	if states < 30 {
		t.Errorf("there are only %d states", states)
	}
}

// TestReplayComparesTheSnapshot as of each record that ends a batch, as it is and edited.
func TestReplayComparesTheSnapshot(t *testing.T) {
	records := morningRecords(t)
	r := replay.New()
	for i, rec := range records {
		if _, err := r.Record(rec); err != nil {
			t.Fatal(err)
		}
		if !rec.Last || i%5 > 1 {
			continue
		}
		w := r.World()
		snapshot := []projector.StreamAt{{Stream: events.Controller, AsOf: rec.Sequence, Facts: w.ControllerState()}}
		for _, s := range w.Streams() {
			facts, names, _ := w.StreamState(s)
			snapshot = append(snapshot, projector.StreamAt{Stream: s, AsOf: rec.Sequence, Facts: facts, Names: names})
		}
		for edited := -1; edited < len(snapshot); edited++ {
			given := append([]projector.StreamAt(nil), snapshot...)
			want := 0
			if edited >= 0 {
				stored := events.Record{Header: events.Header{Stream: given[edited].Stream}, Facts: &events.StoredState{Encoded: given[edited].Facts}}
				edit(t, &stored)
				given[edited].Facts, want = stored.Facts.(*events.StoredState).Encoded, 1
			}
			f := replay.New()
			f.Expect(given)
			if found := play(t, f, oneByOne(records)); len(found) != want {
				t.Errorf("snapshot as of %d, edited at %d: %v, want %d differences", rec.Sequence, edited, found, want)
			}
		}
	}
}

func TestReplayComparesOtherRules(t *testing.T) {
	records := altered(morningRecords(t), 1)
	decisions := uint64(0)
	for i := range records {
		switch f := records[i].Facts.(type) {
		case *events.ControllerStarted:
			other := *f
			other.RulesVersion++
			records[i].Facts = &other
		case *events.Decision:
			other := *f
			other.RulesVersion++
			records[i].Facts = &other
			decisions++
		}
	}
	f := replay.New()
	found := play(t, f, oneByOne(records))
	s := f.Summary()
	for _, d := range found {
		if d.Fields == nil {
			t.Errorf("a decision by other rules is a divergence: %v", d)
		}
	}
	if s.OtherRules < decisions || s.Otherwise == 0 || s.Otherwise == s.OtherRules {
		t.Errorf("%d decisions by other rules, of which one was altered: %+v", decisions, s)
	}
}

// TestARecordThatRefersToNothing: neither a replay nor a controller decides on such a log, and neither panics. A
// controller reads the record while its file is the newest that stands alone. When there is a newer such file, a start
// reads nothing before it, and finds no fault.
func TestARecordThatRefersToNothing(t *testing.T) {
	tried, passed := 0, 0
	sound, err := loop.Recover(t.Context(), batchesOf(morningRecords(t)))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range morningRecords(t) {
		seen, ok := r.Facts.(*events.JobSeen)
		if !ok {
			continue
		}
		tried++
		records := morningRecords(t)
		other := *seen
		other.Spec = "0123456789abcdef0123456789abcdef"
		records[i].Facts = &other
		again := replay.New()
		var err error
		for _, r := range records {
			if _, err = again.Record(r); err != nil {
				break
			}
		}
		if !errors.Is(err, replay.ErrUnfounded) {
			t.Errorf("record %d has a spec that nobody stored: replay says %v", r.Sequence, err)
		}
		end := i
		for !records[end].Last {
			end++
		}
		if _, err := loop.Recover(t.Context(), batchesOf(records[:end+1])); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("record %d has a spec that nobody stored: a controller says %v", r.Sequence, err)
		}
		switch world, err := loop.Recover(t.Context(), batchesOf(records)); {
		case r.Sequence >= wholeFrom(records):
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("record %d has a spec that nobody stored: a controller says %v", r.Sequence, err)
			}
		case err != nil:
			t.Errorf("record %d is before the newest file that stands alone: a controller says %v", r.Sequence, err)
		default:
			passed++
			if !bytes.Equal(world.ControllerState(), sound.ControllerState()) {
				t.Errorf("record %d is before the newest file that stands alone, and the controller's state is another one", r.Sequence)
			}
		}
	}
	if tried < 3 || passed == 0 || passed == tried {
		t.Errorf("of %d records of Jobs a start passes over %d", tried, passed)
	}
}

// batchesOf is a log of whole batches.
func batchesOf(records []events.Record) *memlog.Log {
	log := memlog.New(events.Identity{LogID: testLogID, Epoch: 1})
	var batch events.Batch
	for _, r := range records {
		if batch.Records = append(batch.Records, r); r.Last {
			log.Append(batch, true)
			batch = events.Batch{}
		}
	}
	log.Commit(1 << 30)
	return log
}

// wholeFrom is the first record of the newest file that stands alone.
func wholeFrom(records []events.Record) (first events.Sequence) {
	for _, r := range records {
		if f, ok := r.Facts.(*events.FileRestated); ok {
			first = f.File
		}
	}
	return first
}

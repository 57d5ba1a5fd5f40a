package history_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// TestWhatARecordRefersToIsRead: a world that has folded nothing reads the spec of a Job, and the policies of that
// spec, and nothing else. It then takes the record. A record that is pruned is no error; any other failed read is one.
func TestWhatARecordRefersToIsRead(t *testing.T) {
	log := historytest.Hard(t, 3)
	src := history.Local{Log: log}
	records := historytest.Records(t, log)
	apart, tried := 0, 0
	for _, r := range records {
		want, spec := []events.Sequence{}, &r
		switch f := r.Facts.(type) {
		case *events.JobSeen:
			if f.Spec == "" || f.SpecAt == 0 {
				continue
			}
			stored, err := history.Record(t.Context(), src, f.SpecAt)
			if err != nil {
				t.Fatal(err)
			}
			want, spec = append(want, f.SpecAt), &stored
		case *events.JobSpec:
		case *events.TermStarted, *events.PodSeen, *events.Decision:
			spec = nil
		default:
			continue
		}
		if spec != nil && spec.Facts.(*events.JobSpec).Policies != "" {
			want = append(want, spec.Causes...)
			apart++
		}
		learn := func(fails int, with error) (w *projector.World, read []events.Sequence, err error) {
			w = projector.NewWorld()
			err = history.Learn(w, &r, func(at events.Sequence) (events.Record, error) {
				read = append(read, at)
				if len(read) != fails {
					return history.Record(t.Context(), src, at)
				}
				if errors.Is(with, events.ErrNewer) {
					return events.Record{Header: events.Header{Sequence: at, Kind: 0xffff, Critical: true}, Facts: &events.Unknown{}}, nil
				}
				return events.Record{}, with
			})
			return w, read, err
		}
		w, read, err := learn(0, nil)
		if err != nil || w.Check(&r) != nil {
			t.Fatalf("record %d: %v, %v", r.Sequence, err, w.Check(&r))
		}
		if !slices.Equal(read, want) {
			t.Errorf("record %d, %s: %d are read, want %d", r.Sequence, r.Kind, read, want)
		}
		if spec != nil && w.Check(spec) != nil {
			t.Errorf("record %d: of its spec it is not known: %v", r.Sequence, w.Check(spec))
		}
		for n := range want {
			for _, with := range []error{store.ErrPruned, historytest.ErrRead, events.ErrNewer, &store.CorruptError{Path: "x", At: want[n]}} {
				_, _, err := learn(n+1, with)
				if pruned := errors.Is(with, store.ErrPruned); pruned != (err == nil) || !pruned && !errors.Is(err, with) {
					t.Errorf("record %d, read %d fails with %v: %v", r.Sequence, n+1, with, err)
				}
				tried++
			}
		}
	}
	if apart == 0 || tried < 20 {
		t.Errorf("%d have policies, %d reads failed", apart, tried)
	}
	w, read := projector.NewWorld(), 0
	for _, f := range []events.Facts{
		&events.JobSeen{Spec: "h"}, &events.JobSpec{Hash: "h", Policies: "p"}, &events.TermStarted{}, &events.JobSpec{Hash: "h"},
	} {
		err := history.Learn(w, &events.Record{Header: events.Header{Sequence: 5, Stream: ofTwo}, Facts: f}, func(events.Sequence) (events.Record, error) {
			read++
			return events.Record{}, historytest.ErrRead
		})
		if err != nil || read > 0 {
			t.Errorf("%T that names no record: %v, %d are read", f, err, read)
		}
	}
}

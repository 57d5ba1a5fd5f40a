package serve_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// stepped is the log of a controller whose clock was set back twice, and forward once: records at these seconds.
func stepped(t *testing.T) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f", Epoch: 1})
	previous := events.Sequence(0)
	for i, at := range []int{10, 11, 11, 15, 30, -16, 17, 29, 30, 30, 90, -12, 13, 40} {
		facts, kind := events.Facts(&events.ControllerStopped{}), events.KindControllerStopped
		step := at < 0
		switch {
		case i == 0:
			facts, kind = &events.LogCreated{LogID: "0f", Epoch: 1, Format: events.Format}, events.KindLogCreated
		case step:
			at = -at
			facts, kind = &events.ClockStepped{Step: -time.Second}, events.KindClockStepped
		}
		r := events.Record{
			Header: events.Header{
				Sequence: events.Sequence(i + 1), Time: events.Time(at) * events.Time(time.Second), Stream: events.Controller,
				Previous: previous, Kind: kind, Critical: kind.Critical(), Last: true,
			},
			Facts: facts,
		}
		previous = r.Sequence
		if c := log.Append(events.Batch{Records: []events.Record{r}}, true); c.Err() != nil {
			t.Fatal(c.Err())
		}
	}
	return log
}

// TestTimesAreFoundThoughTheClockWasSet: records of a time are those that a look at every record finds, whichever way
// the clock went.
func TestTimesAreFoundThoughTheClockWasSet(t *testing.T) {
	log := stepped(t)
	src := history.Local{Log: log}
	client, _ := endpoint(t, log, nil)
	everything := all14(t, log)
	for since := range 45 {
		for until := since - 1; until < 45; until += 4 {
			q := history.Query{Since: events.Time(since) * events.Time(time.Second), Until: events.Time(max(until, 0)) * events.Time(time.Second)}
			var want []events.Sequence
			for _, r := range everything {
				if q.Wants(&r, nil) {
					want = append(want, r.Sequence)
				}
			}
			for what, s := range map[string]history.Source{"log": src, "client": client} {
				if what == "client" && since%9 != 0 {
					continue
				}
				var got []events.Sequence
				for r, err := range s.Records(t.Context(), q) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, r.Sequence)
				}
				if !slices.Equal(want, got) {
					t.Fatalf("%s, from second %d to %d: records %v, want %v", what, since, until, got, want)
				}
			}
		}
	}
}

func all14(t *testing.T, log *memlog.Log) []events.Record {
	t.Helper()
	var out []events.Record
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestRecordsAreFilteredWhereTheyAre: by kind, namespace and number, alike beside the log and from afar.
func TestRecordsAreFilteredWhereTheyAre(t *testing.T) {
	log := historytest.Hard(t, 4)
	client, _ := endpoint(t, log, nil)
	src := history.Local{Log: log}
	for _, q := range []history.Query{
		{Kinds: []events.Kind{events.KindDecided, events.KindJobRetired}},
		{Namespace: "default", Limit: 20}, {Namespace: "nowhere"}, {From: 60, Limit: 5},
		{Since: log.Head().Time.Add(-10 * time.Second), Kinds: []events.Kind{events.KindPodChanged}},
	} {
		names := history.NamesOf(t.Context(), src)
		var want []string
		for _, r := range historytest.Records(t, log) {
			if q.Wants(&r, names) && (q.Limit == 0 || len(want) < q.Limit) {
				want = append(want, r.Stream.String()+r.Kind.String())
			}
		}
		for _, s := range []history.Source{src, client} {
			var got []string
			for r, err := range s.Records(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, r.Stream.String()+r.Kind.String())
			}
			if !slices.Equal(want, got) {
				t.Errorf("%+v: %d records, want %d", q, len(got), len(want))
			}
		}
	}
}

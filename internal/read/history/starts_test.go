package history_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// TestWhatLastsSinceAStart: with a controller all that was passed over before it began ends. What lasts is told of the
// records since then alone, so damage before them is no matter, and each value is what all records tell.
func TestWhatLastsSinceAStart(t *testing.T) {
	over := func(namespace string, open bool, versions uint64, went ...events.ObjectsWent) events.Record {
		return told(events.Controller, events.KindPassedOver, &events.PassedOver{
			Since: historytest.At("08:00:30"), Open: open, Versions: versions, Went: went,
		}, events.Evidence{Namespace: namespace})
	}
	start := told(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: modeAll()}, events.Evidence{})
	starts := []events.Sequence{2, 4, 9}
	records := []events.Record{
		start, over("ci", true, 3), start, over("other", true, 0, events.ObjectsWent{Resource: events.ObjectPod, Objects: 2}), over("ci", true, 1), over("", true, 4),
		over("other", false, 5), start, over("ci", true, 6),
	}
	log := logged(t, records)
	lasting := func(all []history.Passed) []history.Passed {
		return slices.DeleteFunc(all, func(p history.Passed) bool { return p.Until != 0 })
	}
	var all history.PassedOver
	began := events.Sequence(0)
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all.Learn(&r)
		if slices.Contains(starts, r.Sequence) {
			began = r.Sequence
		}
		at := history.Place{Sequence: uint64(r.Sequence), Time: recordjson.Instant(r.Time)}
		for _, namespace := range []string{"ci", "other", "nobody", "*"} {
			want := lasting(all.Touching(namespace, namespace == "*", 0, 0))
			got, err := history.PassedAt(t.Context(), history.Local{Log: log}, at, namespace, namespace == "*")
			if err != nil {
				t.Fatal(err)
			}
			same(t, namespace, append([]history.Passed{}, want...), append([]history.Passed{}, got...))
			for bad := events.Sequence(1); bad <= r.Sequence; bad++ {
				src := history.Local{Log: &historytest.Failing{Reader: log, Bad: only(bad, &store.CorruptError{Path: "x", At: bad, Next: bad + 1})}}
				got, err := history.PassedAt(t.Context(), src, at, namespace, namespace == "*")
				if (bad >= began) != errors.Is(err, store.ErrCorrupt) {
					t.Errorf("record %d is damaged, as of %d: %v", bad, r.Sequence, err)
				}
				if bad < began {
					same(t, namespace, append([]history.Passed{}, want...), append([]history.Passed{}, got...))
				}
			}
		}
	}
}

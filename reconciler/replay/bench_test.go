package replay_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// BenchmarkDecide folds the log of a busy cluster, and after each batch decides for the Jobs that it touched. Beside it
// run the fold alone, the replay, which also compares, and the protobuf library's decoding of the same records.
func BenchmarkDecide(b *testing.B) {
	l := benchLog(b)
	m := l.Messages(b)
	sidebyside.Compare(b, "record",
		sidebyside.Computing("decide", l.Len(), func() { decideAll(l) }),
		sidebyside.Computing("fold", l.Len(), func() {
			w := projector.NewWorld()
			for i := range l.Records {
				w.Apply(&l.Records[i])
			}
		}),
		sidebyside.Computing("replay", l.Len(), func() { replayAll(b, l) }),
		sidebyside.Computing("protobuf", l.Len(), func() { m.Unmarshal(nil) }))
}

func benchLog(t testing.TB) *joblog.Log {
	records := 50_000
	if testing.Short() {
		records = 20_000
	}
	return joblog.New(t, joblog.Busy(records))
}

// decideAll folds and decides, and returns how often it decided.
func decideAll(l *joblog.Log) (decided int) {
	w := projector.NewWorld()
	touched := map[events.Stream]bool{}
	for i := range l.Records {
		r := &l.Records[i]
		w.Apply(r)
		if r.Stream != events.Controller {
			touched[r.Stream] = true
		}
		if !r.Last {
			continue
		}
		for s := range touched {
			if j := w.Subject(s); j != nil {
				rules.Decide(j)
				decided++
			}
		}
		clear(touched)
	}
	return decided
}

func replayAll(t testing.TB, l *joblog.Log) {
	r := replay.New()
	for i := range l.Records {
		if found, err := r.Record(l.Records[i]); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	}
}

// BenchmarkWaiting replays, per record, a log during which many Jobs wait for their time, beside one with few. The
// difference must be small.
func BenchmarkWaiting(b *testing.B) {
	many, few := waitingLog(b, 2000), waitingLog(b, 20)
	sidebyside.Compare(b, "record",
		sidebyside.Computing("many", many.Len(), func() { replayAll(b, many) }),
		sidebyside.Computing("few", few.Len(), func() { replayAll(b, few) }))
}

func waitingLog(b *testing.B, waiting int) *joblog.Log {
	cfg := joblog.Busy(20_000)
	cfg.Waiting = waiting
	return joblog.New(b, cfg)
}

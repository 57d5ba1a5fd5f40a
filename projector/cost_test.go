package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
)

// relist returns every pod as a list would show it, as the world knows it.
func relist(w *projector.World) []events.Observation {
	var all []events.Observation
	for _, j := range w.Jobs() {
		for _, p := range j.Pods() {
			seen := p.PodSeen
			seen.Version++
			seen.Tracked = p.Held()
			all = append(all, events.Observation{
				Job: j.Ref, Facts: &seen, Evidence: events.Evidence{Namespace: j.Ref.Namespace, Name: p.Name, Node: p.Node},
			})
		}
	}
	return all
}

// TestAllocationsPerRecord counts allocations in the log of a busy cluster; they do not depend on the machine. Each
// limit is a tenth above the count. If you lower a count, lower its limit.
func TestAllocationsPerRecord(t *testing.T) {
	l := joblog.New(t, joblog.Busy(20_000))
	seen := relist(l.Loop.World())
	in := intake.Intake{World: l.Loop.World()}
	var buffer []byte
	for _, tt := range []struct {
		sentence string
		limit    float64
		n        int
		work     func()
	}{
		{"decoding a record", 12.7, l.Len(), func() {
			for _, stored := range l.Stored {
				if _, err := events.DecodeRecord(stored); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"encoding a record", 4.9, l.Len(), func() {
			for i := range l.Records {
				buffer, _ = events.AppendRecord(buffer[:0], &l.Records[i])
			}
		}},
		{"folding a record", 1.17, l.Len(), func() { foldAll(l) }},
		{"a pod that is known already", 0.01, len(seen), func() {
			for i := range seen {
				in.Admit(&seen[i], 1)
			}
		}},
	} {
		each := testing.AllocsPerRun(1, tt.work) / float64(tt.n)
		t.Logf("%s allocates %.2f times", tt.sentence, each)
		if each > tt.limit {
			t.Errorf("%s allocates %.2f times, the limit is %.2f", tt.sentence, each, tt.limit)
		}
	}
}

func foldAll(l *joblog.Log) *projector.World {
	w := projector.NewWorld()
	for i := range l.Records {
		w.Apply(&l.Records[i])
	}
	return w
}

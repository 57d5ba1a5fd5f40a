package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector/intake"
)

func benchRecords() int {
	if testing.Short() {
		return 20_000
	}
	return 50_000
}

// BenchmarkFold measures the fold of a busy cluster's records. Beside it the protobuf library decodes the same records.
func BenchmarkFold(b *testing.B) {
	l := joblog.New(b, joblog.Busy(benchRecords()))
	m := l.Messages(b)
	sidebyside.Compare(b, "record",
		sidebyside.Computing("fold", l.Len(), func() { foldAll(l) }),
		sidebyside.Computing("protobuf", l.Len(), func() { m.Unmarshal(nil) }))
}

// BenchmarkIntake measures the cost of an observation without news, as in a relist: the pods of a busy cluster as the
// world knows them.
func BenchmarkIntake(b *testing.B) {
	l := joblog.New(b, joblog.Busy(benchRecords()))
	w := l.Loop.World()
	seen := relist(w)
	in := intake.Intake{World: w}
	sidebyside.Compare(b, "pod", sidebyside.Computing("known", len(seen), func() {
		for i := range seen {
			if drafts := in.Admit(&seen[i], 1); len(drafts) > 0 {
				b.Fatalf("a pod that is known gives %v", drafts)
			}
		}
	}))
}

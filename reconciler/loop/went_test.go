package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
)

// TestAKillLosesNoCountInSilence makes each flood for 25 s (for 75 s with JOBLEDGER_LONG), and looks at the log after
// each turn as if the controller were killed there. Either the log counts all versions that were passed over, or the
// newest such record of the namespace is marked open. After a stop all are counted.
func TestAKillLosesNoCountInSilence(t *testing.T) {
	t.Parallel()
	lasting := 25 * time.Second
	if effort.IsLong() {
		lasting = 75 * time.Second
	}
	for _, f := range floods {
		m := newMachine(t)
		next, counted, silent, uncounted := events.Sequence(1), uint64(0), 0, 0
		open := map[string]bool{}
		look := func() {
			for rec, err := range m.log.Read(t.Context(), next) {
				m.must(err)
				next = rec.Sequence + 1
				counted += rec.Evidence.PassedOver
				if p, ok := rec.Facts.(*events.PassedOver); ok {
					counted += p.Versions
					if open[rec.Evidence.Namespace] = p.Open; !p.Open {
						delete(open, rec.Evidence.Namespace)
					}
				}
			}
			if m.loop.PassedOver() == counted {
				return
			}
			if uncounted++; len(open) == 0 {
				silent++
			}
		}
		f.pour(m, floodBudget/8, lasting, look)
		if silent > 0 || uncounted == 0 {
			t.Errorf("%s: after %d turns the log does not count all, and after %d of them no record is open", f.name, uncounted, silent)
		}
		m.loop.Stop(m.now)
		look()
		if passed := m.loop.PassedOver(); counted != passed || passed == 0 {
			t.Errorf("%s: %d versions were passed over, and after a stop the log counts %d", f.name, passed, counted)
		}
	}
}

// showPassedOver writes the counts of a record.
func showPassedOver(b *strings.Builder, rec *events.Record, f *events.PassedOver) {
	fmt.Fprintf(b, " of namespace %q", rec.Evidence.Namespace)
	for _, g := range f.Went {
		fmt.Fprintf(b, ", %d %s went", g.Objects, g.Resource)
	}
	if f.Versions > 0 {
		fmt.Fprintf(b, ", %d versions", f.Versions)
	}
	if f.Open {
		b.WriteString(", open")
	}
}

// showPassed writes how many versions were passed over before a record of an object.
func showPassed(b *strings.Builder, rec *events.Record) {
	if n := rec.Evidence.PassedOver; n > 0 {
		fmt.Fprintf(b, " (+%d passed over)", n)
	}
}

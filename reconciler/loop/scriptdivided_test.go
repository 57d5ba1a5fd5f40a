package loop_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestScriptsDivided divides the state of each stream of every script, a few pods after each record. The parts together
// must be the state as of the last part. Where another division begins, the parts so far are given up and leave no
// trace.
func TestScriptsDivided(t *testing.T) {
	parts, divisions := 0, 0
	eachScript(t, func(t *testing.T, _, text string) {
		m, _ := runScript(t, text)
		for _, every := range []int{1, 3} {
			w := projector.NewWorld()
			told := map[events.Stream]*divided{}
			for rec, err := range m.log.Read(t.Context(), 1) {
				m.must(err)
				w.Apply(&rec)
				if int(rec.Sequence)%every != 0 {
					continue
				}
				for _, s := range w.Streams() {
					if told[s] == nil {
						told[s] = &divided{}
					}
					if rec.Sequence%29 == 0 {
						w.Divide(s)
						*told[s] = divided{}
					}
					last, ok := told[s].next(w, s, 40)
					if !ok {
						continue
					}
					if parts++; !last {
						continue
					}
					if divisions++; !told[s].whole(t, w, s, rec.Sequence) {
						return
					}
					*told[s] = divided{}
				}
			}
		}
	})
	t.Logf("%d parts of %d states", parts, divisions)
	if parts < divisions+1000 || divisions < 1000 {
		t.Errorf("only %d parts of %d states", parts, divisions)
	}
}

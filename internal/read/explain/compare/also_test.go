package compare

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestRatesOfOthers: a rate of those that have something in common is told where it is worse than that of the rest, of
// which there are enough.
func TestRatesOfOthers(t *testing.T) {
	// F and C have it, f and c do not; f and F failed; what befell F befell S, which succeeded
	others := func(text string) (all []*peer) {
		for i, r := range text {
			p := &peer{
				marks: []explain.Mark{whentest.Seen(events.Sequence(i+1), 1)},
				nodes: map[string]bool{"n": r == 'F' || r == 'C'}, ends: map[string]explain.Mark{},
			}
			if r == 'F' || r == 'S' {
				p.ends["main exit 1"] = whentest.Seen(events.Sequence(i+1), 1)
			}
			if p.sum.State = history.StateComplete; r == 'f' || r == 'F' {
				p.sum.State = history.StateFailed
			}
			all = append(all, p)
		}
		return all
	}
	for text, want := range map[string]string{
		"Fccc": "n: 1 of 1 failed, elsewhere 0 of 3", "Fcc": "", "ffff": "", "FCffcc": "",
		"FFCfcc": "n: 2 of 3 failed, elsewhere 1 of 3", "FFCffc": "", "CCCC": "", "CCfccc": "",
	} {
		a := account{peers: others(text), failed: strings.Count(strings.ToLower(text), "f")}
		a.compare("n", "elsewhere", func(p *peer) bool { return p.nodes["n"] })
		if got := strings.Join(a.parts, " · "); got != want || (len(a.from) > 0) != (want != "") {
			t.Errorf("%s: %q by %d records, want %q", text, got, len(a.from), want)
		}
	}
	for text, want := range map[string]string{
		"CC": "main exit 1 in none of them", "Cf": "main exit 1 in none of them", "CF": "main exit 1 in 1 of them",
		"FFFFFFFF": "main exit 1 in 8 of them",
		"SSf":      "main exit 1 in 2 of them, and none of these failed", "SFF": "main exit 1 in 3 of them; 1 of these succeeded",
		"SSC": "main exit 1 in 2 of them",
	} {
		a := account{peers: others(text), failed: strings.Count(strings.ToLower(text), "f")}
		a.ends("main exit 1")
		if got := strings.Join(a.parts, ""); got != want || len(a.from) != min(strings.Count(text, "F")+strings.Count(text,
			"S"), explain.MostCited) {
			t.Errorf("%s: %q by %d records, want %q", text, got, len(a.from), want)
		}
	}
}

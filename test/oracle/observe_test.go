package oracle

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
)

// TestObserverBesideUpstream shows upstream's actions in random scenarios to an observer (--manage=observe), the two
// watches out of step by up to a second. It plays JOBLEDGER_SEEDS scenarios: 100 by default, or as many as have 10,000
// Jobs with JOBLEDGER_LONG. Each report of the observer (WouldDecide) is true: upstream did not do it within the
// patience, because it was dead, refused or blind, or because it never does.
func TestObserverBesideUpstream(t *testing.T) { observed(t, 100, Generate) }

// TestObserverBesideUpstreamTTL is the same test with the built-in TTL controller, and 60 scenarios in which Jobs have
// TTLs.
func TestObserverBesideUpstreamTTL(t *testing.T) { observed(t, 60, GenerateTTL) }

func observed(t *testing.T, otherwise uint64, generate func(uint64) (Scenario, string)) {
	least := 0
	if effort.IsLong() {
		otherwise, least = 1, 10_000 // as many scenarios as have so many Jobs
	}
	from, n := setting(t, "JOBLEDGER_SEED", 1), setting(t, "JOBLEDGER_SEEDS", otherwise)
	if n != otherwise {
		least = 0 // JOBLEDGER_SEEDS sets the number
	}
	jobs, wrong, seed, why := 0, 0, from, map[string]int{}
	for ; seed < from+n || jobs < least; seed++ {
		s, family := generate(seed)
		seen, found, err := watchUpstream(t, s, seed)
		if err != nil {
			t.Fatalf("seed %d, %s: %v\n%s%s", seed, family, err, s, again(t, seed))
		}
		jobs += seen
		for _, d := range found {
			if why[d.why]++; d.why == "" {
				wrong++
				t.Errorf("seed %d, %s: a false WouldDecide beside upstream:\n%s\n%s%s", seed, family, d.text, s, again(t, seed))
			}
		}
	}
	delete(why, "")
	t.Logf("JOBLEDGER_SEED=%d JOBLEDGER_SEEDS=%d: %d Jobs beside upstream's controller, %d false WouldDecide; true ones by cause: %v",
		from, seed-from, jobs, wrong, why)
}

// TestSeedsThatWereFalseOnce plays scenarios in which the observer once made a false report.
func TestSeedsThatWereFalseOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		generate func(uint64) (Scenario, string)
		seed     uint64
	}{
		"J-104: a status counts a failed pod before the watch of pods shows that it failed": {GenerateTTL, 1795532426388685179},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := tt.generate(tt.seed)
			_, found, err := watchUpstream(t, s, tt.seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range found {
				if d.why == "" {
					t.Errorf("a false WouldDecide beside upstream:\n%s\n%s", d.text, s)
				}
			}
		})
	}
}

// TestObserverSeesWhatUpstreamLeaves: the observer is not blind in these scenarios. It reports each action that
// upstream omits within the patience once, and nothing else.
func TestObserverSeesWhatUpstreamLeaves(t *testing.T) {
	for name, tt := range map[string]struct{ scenario, want string }{
		"nothing":                      {"+0 create a\n+1 succeed a.*\n+1 succeed a.*", ""},
		"creates refused by a quota":   {"+0 deny create quota; create a\n+5 allow\n+1 succeed a.*", "MorePodsWanted"},
		"a controller that is dead":    {"+0 create a\n+1 die 0; kill a.0\n+5 start", "PodsWait MorePodsWanted"},
		"dead for less than that":      {"+0 create a\n+1 die 0; kill a.0\n+1 start", ""},
		"suspended without start time": {"+0 create a\n+1 fail a.0\n+1 edit a suspend=true\n+1 edit a backoffLimit=0", "BackoffLimitExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse("job a completions=3 parallelism=2 backoffLimit=6\n" + tt.scenario)
			if err != nil {
				t.Fatal(err)
			}
			_, found, err := watchUpstream(t, s, 1)
			if err != nil {
				t.Fatal(err)
			}
			var reasons, texts []string
			for _, d := range found {
				reasons, texts = append(reasons, string(d.reason)), append(texts, d.text+" ("+d.why+")")
				if d.why == "" {
					t.Errorf("false: %s", d.text)
				}
			}
			if got := strings.Join(reasons, " "); got != tt.want {
				t.Errorf("want %q, found:\n%s", tt.want, strings.Join(texts, "\n"))
			}
		})
	}
}

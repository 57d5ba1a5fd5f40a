package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// setting returns the number in an environment variable, or the default `otherwise` if it is unset.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s: %v", name, text, err)
	}
	return n
}

// TestSeeds plays JOBLEDGER_SEEDS scenarios (100 by default, 10,000 with JOBLEDGER_LONG), from seed JOBLEDGER_SEED (1
// by default). At rest, the pictures of upstream's controller and ours agree, except for the differences in allowed.go.
func TestSeeds(t *testing.T) { seeds(t, 100, Generate, nil) }

// TestSeedsOfTTL is TestSeeds with the built-in TTL controller beside the Job controller, and 50 scenarios. The same
// Jobs are deleted, in the foreground, and as soon (T-003, T-004, T-010, T-011, T-013, T-020, T-022 to T-025, T-031,
// T-033, T-036, T-050, T-052 to T-054, T-056, T-070 to T-073).
func TestSeedsOfTTL(t *testing.T) { seeds(t, 50, GenerateTTL, nil) }

// TestSeedsOfSeconds is TestSeeds with 50 scenarios in which pods stop within upstream's second, and users act within
// it (J-015, J-022, J-023).
func TestSeedsOfSeconds(t *testing.T) { seeds(t, 50, GenerateSeconds, nil) }

// enough scenarios show whether upstream still needs a mend.
const enough = 10_000

func seeds(t *testing.T, otherwise uint64, generate func(uint64) (Scenario, string), mends []*Difference) {
	from := setting(t, "JOBLEDGER_SEED", 1)
	if effort.IsLong() {
		otherwise = enough
	}
	n := setting(t, "JOBLEDGER_SEEDS", otherwise)
	t.Logf("JOBLEDGER_SEED=%d JOBLEDGER_SEEDS=%d", from, n)
	var acted sync.Map // the mends that acted
	var played atomic.Uint64
	t.Cleanup(func() {
		if played.Load() >= enough {
			missing(t, mends, &acted)
		}
	})
	workers := uint64(runtime.GOMAXPROCS(0))
	for worker := range workers {
		t.Run(fmt.Sprintf("worker=%d", worker), func(t *testing.T) {
			t.Parallel()
			known, others := map[string]int{}, 0
			for i := worker; i < n; i += workers {
				v := seed(t, generate, from+i)
				played.Add(1)
				if v.known != nil {
					known[v.known.Rule]++
				}
				if v.other {
					others++
				}
				for d, was := range v.mends {
					if was {
						acted.Store(d, true)
					}
				}
			}
			t.Logf("known differences by rule: %v; %d agree with an end to which upstream does not come each time", known, others)
		})
	}
}

// missing reports mends that never acted: upstream follows the rule by itself now, or no scenario leads to it any more.
func missing(t *testing.T, mends []*Difference, acted *sync.Map) {
	for _, d := range mends {
		if _, was := acted.Load(d); !was {
			t.Errorf("nothing of %s was mended in %d scenarios: remove it, or play what it is for. It is: %s", d.Rule, enough, d.Sentence)
		}
	}
}

// seed plays the scenario of a seed. If it finds an unknown difference, it makes the scenario smaller.
func seed(t *testing.T, generate func(uint64) (Scenario, string), seed uint64) verdict {
	t.Helper()
	s, family := generate(seed)
	v, err := judge(&player{T: t}, s, through(s), seed)
	if err != nil {
		t.Errorf("seed %d, %s: %v\n%s%s", seed, family, err, s, again(t, seed))
		return v
	}
	if v.diff == "" || v.known != nil {
		return v
	}
	found, smallest := v, &player{T: t}
	small := shrink(s, func(smaller Scenario) bool {
		w, err := judge(smallest, smaller, through(smaller), seed)
		if err != nil || w.diff == "" || w.known != nil {
			return false
		}
		found = w
		return true
	}, func() bool { return smallest.plays > mostPlays })
	t.Errorf("seed %d, %s: they differ; with - upstream, with + ours:\n%s\n%s\nthe whole scenario:\n%s\n%s%s",
		seed, family, small, cut(found.diff), s, cut(v.diff), again(t, seed))
	return v
}

func again(t *testing.T, seed uint64) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return fmt.Sprintf("\nto repeat, in test/oracle: JOBLEDGER_SEED=%d JOBLEDGER_SEEDS=1 go test -run '%s$' .", seed, name)
}

// cut keeps lines readable. Pods differ at the beginning of their lines.
func cut(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		line = strings.TrimSpace(line)
		if len(line) > 300 {
			line = line[:300] + "…"
		}
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// TestRows plays the scenarios of testdata. In agree, the two controllers differed once, and ours was mended. A file in
// differ ends with the difference, behind a line "----". A file in mended ends with the rules of the mends that
// upstream needs for both to agree; see cronmends.go.
func TestRows(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no rows", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.ToSlash(file), ".txt")[len("testdata/"):], func(t *testing.T) { row(t, file) })
	}
}

func row(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	scenario, want, differs := strings.Cut(string(text), "----\n")
	s, err := Parse(scenario)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse(s.String()); err != nil || again.String() != s.String() {
		t.Errorf("it is read as\n%s", s)
	}
	l, mended := through(s), filepath.Base(filepath.Dir(file)) == "mended"
	if differs && !mended {
		l = nil // all differences are to be seen
	}
	got := ""
	for seed := range uint64(3) { // upstream meets what happens at one moment in more than one way, on a busy machine
		v, err := judge(&player{T: t}, s, l, 1+seed)
		if err != nil {
			t.Fatal(err)
		}
		if got = cut(v.diff); mended && v.known != nil {
			got = v.known.Rule + "\n"
		}
		if got == want || !differs {
			break
		}
	}
	if os.Getenv("JOBLEDGER_UPDATE") != "" && differs && got != want {
		if err := os.WriteFile(file, []byte(scenario+"----\n"+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("with - upstream, with + ours:\n%s\nwant:\n%s", got, want)
	}
}

// TestGenerate: each scenario has the text that it is read from, and a seed gives the same one each time.
func TestGenerate(t *testing.T) {
	for seed := range uint64(2000) {
		s, family := Generate(seed)
		if family == "" || len(s.Steps) < 2 {
			t.Fatalf("seed %d: %s\n%s", seed, family, s)
		}
		if read, err := Parse(s.String()); err != nil || read.String() != s.String() {
			t.Fatalf("seed %d: %v\n%s", seed, err, s)
		}
		if again, _ := Generate(seed); again.String() != s.String() {
			t.Fatalf("seed %d gives two scenarios", seed)
		}
	}
}

// TestOursIsWatched: a broken promise of ours is found, even if both controllers may come to one end.
func TestOursIsWatched(t *testing.T) {
	s, err := Parse("job a completions=3 parallelism=2 backoffLimit=6\n+0 create a\n")
	if err != nil {
		t.Fatal(err)
	}
	o, err := newOurs(s, 1)
	if err == nil {
		err = s.play(o)
	}
	if err != nil {
		t.Fatal(err)
	}
	pod := o.world.Server.List(apiserver.Pods).Items[0]
	if err := o.client.DeletePod(t.Context(), pod.GetNamespace(), pod.GetName(), "", ""); err != nil {
		t.Fatal(err)
	}
	if err := o.pass(time.Second); err == nil || !strings.Contains(err.Error(), "J-083") {
		t.Errorf("a deletion that names no UID is found as %v", err)
	}
}

// TestTheOracleSees: a difference is found wherever it is. Each row but the first is an action that ours must not do,
// played as if it had done it.
func TestTheOracleSees(t *testing.T) {
	s, err := Parse("job a indexed completions=3 parallelism=2 backoffLimit=6\n+0 create a\n+1 fail a:0 exit=3; kill a:1\n+1 succeed a:0\n")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := playUpstream(&player{T: t}, s, nil, 1, wholly)
	if err != nil {
		t.Fatal(err)
	}
	for _, deed := range []string{
		"touch a", "kill a:1", "fail a:1", "succeed a:1", "edit a suspend=true", "edit a parallelism=1", "edit a backoffLimit=0", "stray a 1", "delete a orphan",
		"keep a:1", "strip a:1", "relabel a:1", "reindex a:1 2",
	} {
		changed := Scenario{Nodes: s.Nodes, Jobs: s.Jobs, Steps: append(s.Steps[:len(s.Steps):len(s.Steps)], Step{Wait: slot, Deeds: []string{deed}})}
		mine, err := playOurs(changed, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if found := diff(theirs, mine); (found == "") != (deed == "touch a") {
			t.Errorf("%s: found %q", deed, found)
		}
	}
}

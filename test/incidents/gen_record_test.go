package incidents

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/internal/patience"
)

var (
	generate   = flag.Bool("generate", false, "stage the situations of the generator (also with JOBLEDGER_LONG=1)")
	situations = flag.String("situations", "", "stage only the situations whose name this regular expression matches")
	again      = flag.Bool("again", false, "do not stage anything: judge the logs of the last run again")
	keepGen    = flag.Bool("keep-generated", false, "stage those that testdata/generated holds, and put them in its place")
)

// generated is where the logs of a long run stay, so that they can be asked again.
var generated = filepath.Join("..", "..", "bin", "generated")

// TestGeneratedSituations stages the situations of the generator in both modes, and judges what is said of them.
// JOBLEDGER_PART=n/N stages the nth of N parts.
func TestGeneratedSituations(t *testing.T) {
	if os.Getenv("JOBLEDGER_LONG") == "" && !*generate && !*keepGen && !*again {
		t.Skip("takes minutes: JOBLEDGER_LONG=1, or -generate")
	}
	for _, m := range []mode{situationsRun, situationsObserved} {
		t.Run(string(m), func(t *testing.T) {
			out := filepath.Join(generated, string(m))
			if *keepGen {
				out = filepath.Join("testdata", "generated", string(m))
			}
			if *again {
				judgeAll(t, out)
				return
			}
			stageAll(t, m, chosen(t, m), out)
			judgeAll(t, out)
		})
	}
}

// chosen are the rows of a mode that are to be staged.
func chosen(t *testing.T, m mode) (some []row) {
	t.Helper()
	part, parts := 1, 1
	if text := os.Getenv("JOBLEDGER_PART"); text != "" {
		if _, err := fmt.Sscanf(text, "%d/%d", &part, &parts); err != nil || part < 1 || part > parts {
			t.Fatalf("JOBLEDGER_PART=%s: want n/N", text)
		}
	}
	wanted := regexp.MustCompile(*situations)
	for i, r := range rows() {
		if (r.only == "" || r.only == m) && wanted.MatchString(r.name()) && (r.kept || !*keepGen) && i%parts == part-1 {
			some = append(some, r)
		}
	}
	return some
}

// stageAll plays situations, many at a time, and keeps the log and the truth.
func stageAll(t *testing.T, m mode, rows []row, out string) {
	ctx, cancel := patience.Several(t.Context(), 6)
	defer cancel()
	r := newRecording(t, ctx, m)
	if err := r.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	r.priorities(&scene{recording: r, ctx: ctx, t: t})
	var mu sync.Mutex
	var truths []told
	t.Run("staged", func(t *testing.T) {
		for _, row := range rows {
			s := newSituation(ctx, r, row)
			t.Run(row.name(), func(t *testing.T) {
				t.Parallel()
				s.play(t)
				mu.Lock()
				defer mu.Unlock()
				truths = append(truths, s.told)
			})
		}
	})
	if err := r.ours.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := keepGenerated(ctx, r, truths, out); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d situations were staged", len(truths), len(rows))
}

func newSituation(ctx context.Context, r *recording, row row) *situation {
	s := &situation{row: row, scene: &scene{recording: r, ctx: ctx}, played: map[uid]bool{}}
	s.scene.incident.name = row.name()
	s.told = told{Name: row.name(), Cause: row.cause, Shape: row.shape, Phase: row.phase, Mode: r.mode, Namespace: row.name()}
	return s
}

func keepGenerated(ctx context.Context, r *recording, truths []told, out string) error {
	slices.SortFunc(truths, func(a, b told) int { return strings.Compare(a.Name, b.Name) })
	if err := r.keep(ctx, filepath.Join(out, "log")); err != nil {
		return err
	}
	text, err := json.MarshalIndent(truths, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "truth.json"), append(text, '\n'), 0o644)
}

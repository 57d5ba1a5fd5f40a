package incidents

import (
	"cmp"
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

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/judge"
)

var (
	generate   = flag.Bool("generate", false, "stage the situations of the generator (also with JOBLEDGER_LONG=1)")
	situations = flag.String("situations", "", "stage only the situations whose name this regular expression matches")
	again      = flag.Bool("again", false, "do not stage anything: judge the logs of the last run again")
	where      = flag.String("generated", "", "where the logs of the situations stay; empty: bin/generated")
	keepGen    = flag.Bool("keep-generated", false, "stage those that testdata/generated holds, and put them in its place")
)

// generated is the directory for the logs of a long run, one for each part, so that they can be judged again.
func generated() string {
	part := strings.ReplaceAll(cmp.Or(os.Getenv("JOBLEDGER_PART"), "1/1"), "/", "-of-")
	return filepath.Join(cmp.Or(*where, filepath.Join("..", "..", "bin", "generated")), part)
}

// TestGeneratedSituations stages the situations of the generator in both modes, and judges the answers about them.
// JOBLEDGER_PART=n/N stages the nth of N parts.
func TestGeneratedSituations(t *testing.T) {
	if !effort.IsLong() && !*generate && !*keepGen && !*again {
		t.Skip("takes minutes: JOBLEDGER_LONG=1, or -generate")
	}
	for _, m := range []mode{situationsRun, situationsObserved} {
		t.Run(string(m), func(t *testing.T) {
			out := filepath.Join(generated(), string(m))
			if *keepGen {
				out = filepath.Join("testdata", "generated", string(m))
			}
			if *again {
				judge.All(t, out)
				return
			}
			stageAll(t, m, chosen(t), out)
			judge.All(t, out)
		})
	}
}

// chosen returns the rows to stage.
func chosen(t *testing.T) (some []row) {
	t.Helper()
	part, parts := 1, 1
	if text := os.Getenv("JOBLEDGER_PART"); text != "" {
		if _, err := fmt.Sscanf(text, "%d/%d", &part, &parts); err != nil || part < 1 || part > parts {
			t.Fatalf("JOBLEDGER_PART=%s: want n/N", text)
		}
	}
	wanted := regexp.MustCompile(*situations)
	for i, r := range rows() {
		if wanted.MatchString(r.name()) && (r.kept || !*keepGen) && i%parts == part-1 {
			some = append(some, r)
		}
	}
	return some
}

// stageAll stages situations, many at a time, and keeps the log and the truth.
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
	play := func(name string, rows []row, o *outage) {
		t.Run(name, func(t *testing.T) {
			for _, row := range rows {
				s := newSituation(ctx, r, row)
				s.outage = o
				t.Run(row.name(), func(t *testing.T) {
					t.Parallel()
					s.play(t)
					mu.Lock()
					defer mu.Unlock()
					truths = append(truths, s.told)
				})
			}
			if o != nil && len(rows) > 0 {
				t.Run("outage", func(t *testing.T) { t.Parallel(); o.play(&scene{recording: r, ctx: ctx, t: t}) })
			}
		})
	}
	of := func(cause string) []row {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.unwatched || !strings.HasPrefix(r.cause, cause) })
	}
	play("staged", slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.unwatched }), nil)
	for _, how := range []string{"frozen", "killed"} {
		play(how, of(how), newOutage(how == "frozen", len(of(how))))
	}
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
	s.scene.incident.name = row.namespace
	s.told = told{Name: row.name(), Cause: row.cause, Shape: row.shape, Phase: row.phase, Mode: string(r.mode), Namespace: row.namespace}
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

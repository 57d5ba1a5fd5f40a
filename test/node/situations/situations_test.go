//go:build linux

package situations

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

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/judge"
	"github.com/jobledger/jobledger/test/node"
)

var (
	update = flag.Bool("update", false, "keep the logs in testdata, and the words of the kubelet")
	only   = flag.String("only", "", "stage only the situations whose name this regular expression matches")
	modes  = flag.String("modes", "run,observe", "in which modes")
	again  = flag.Bool("again", false, "do not stage anything: judge the logs of the last run again")
	where  = flag.String("out", "", "where the logs stay; empty: bin/situations")
)

func TestMain(m *testing.M) {
	// Situations mostly wait, so many are staged at a time, on any number of processors.
	if err := flag.Set("test.parallel", "16"); err != nil { // a flag on the command line wins: it is read later
		panic(err)
	}
	node.Main(m, prepare, func(context.Context) (func() error, error) { return func() error { return nil }, nil })
}

func prepare(ctx context.Context, dir string) error {
	if _, err := built.Program(ctx, dir); err != nil {
		return err
	}
	busybox, err := node.Busybox(ctx)
	if err != nil {
		return err
	}
	_, err = busybox.Make(ctx, dir)
	return err
}

// TestSituations stages the situations in both modes, and judges the answers and the kubelet's lines.
func TestSituations(t *testing.T) {
	if !*again {
		node.Need(t)
	}
	for name := range strings.SplitSeq(*modes, ",") {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(cmp.Or(*where, filepath.Join("..", "..", "..", "bin", "situations")), name)
			if *update {
				out = filepath.Join("testdata", name)
			}
			if *again {
				judge.All(t, out)
				return
			}
			series := stageAll(t, mode(name), out)
			judge.All(t, out)
			compare(t, series)
		})
	}
}

// staged has the results of the situations of a mode.
type staged struct {
	mu     sync.Mutex
	truths []judge.Told
	series map[string][]string // the kubelet's lines
}

// stageAll stages the situations in their own cluster, and keeps the log and the truth. It returns the kubelet's lines
// for each.
func stageAll(t *testing.T, m mode, out string) map[string][]string {
	ctx, cancel := patience.Several(t.Context(), 6)
	defer cancel()
	c, err := startCluster(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	}()
	stop, err := registries(c.node)
	defer func() { _ = stop() }() // the servers are not needed any more
	if err != nil {
		t.Fatal(err)
	}
	all := &staged{series: map[string][]string{}}
	t.Run("together", func(t *testing.T) { all.stage(ctx, t, c, false) })
	t.Run("alone", func(t *testing.T) { all.stage(ctx, t, c, true) })
	if err := c.keep(ctx, filepath.Join(out, "log")); err != nil {
		t.Fatal(err)
	}
	if err := all.write(filepath.Join(out, "truth.json")); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d situations were staged", len(all.truths))
	return all.series
}

// stage stages the rows that may run at the same time, or those that must run alone.
func (x *staged) stage(ctx context.Context, t *testing.T, c *cluster, alone bool) {
	wanted := regexp.MustCompile(*only)
	for n, r := range rows() {
		if r.alone != alone || !wanted.MatchString(r.name) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			if !alone {
				t.Parallel()
			}
			ctx, cancel := patience.Context(ctx)
			defer cancel()
			s := &situation{cluster: c, row: &r, ctx: ctx, name: fmt.Sprintf("team-%03d", n)}
			s.tell()
			s.play(t)
			t.Logf("the kubelet said\n  %s", strings.Join(s.series(), "\n  "))
			x.mu.Lock()
			defer x.mu.Unlock()
			x.truths = append(x.truths, s.told)
			x.series[r.name] = s.series()
		})
	}
}

// write writes the truths, sorted by name.
func (x *staged) write(path string) error {
	slices.SortFunc(x.truths, func(a, b judge.Told) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(x.truths, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

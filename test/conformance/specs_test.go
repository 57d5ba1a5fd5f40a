//go:build linux

package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/internal/built"
	"github.com/jobledger/jobledger/test/internal/child"
	"github.com/jobledger/jobledger/test/node"
)

var (
	update = flag.Bool("update", false, "write docs/conformance-e2e.md")
	only   = flag.String("only", "", "run the specs that this regexp matches, and write no page")
)

// beside is how many specs run at a time: most of them wait for the next minute, or for the node.
const beside = 5

func TestMain(m *testing.M) {
	node.Main(m, prepare, func(context.Context) (func() error, error) { return func() error { return nil }, nil })
}

// prepare builds the specs and Jobledger, compares the specs with specs.txt, and makes the images.
func prepare(ctx context.Context, dir string) error {
	set, err := binaries.Ensure(ctx, binaries.Config{Programs: []string{binaries.E2E}})
	if err != nil {
		return err
	}
	e2e := set.Path(binaries.E2E)
	found, err := exec.CommandContext(ctx, e2e, "--list-tests").Output()
	if err != nil {
		return fmt.Errorf("list the specs: %w", err)
	}
	if got := listed(string(found)); !slices.Equal(got, specs()) {
		return fmt.Errorf("the specs are not those of specs.txt, but\n%s", strings.Join(got, "\n"))
	}
	images, err := exec.CommandContext(ctx, e2e, "--list-images").Output()
	if err != nil {
		return fmt.Errorf("list the images of the specs: %w", err)
	}
	if _, err := built.Program(ctx, dir); err != nil {
		return err
	}
	return makeImages(ctx, dir, strings.Fields(string(images)))
}

// listed reads the names of our specs from the output of --list-tests, which has lines "file:line: name".
func listed(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && focus.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestSpecs runs the specs with Jobledger and with the built-in controllers. All must pass with Jobledger, and the page
// must have the outcomes.
func TestSpecs(t *testing.T) {
	node.Need(t)
	wanted := regexp.MustCompile(*only)
	for _, contender := range []string{ours, builtin} {
		t.Run(contender, func(t *testing.T) {
			r := record{Specs: results{}}
			for _, s := range []setting{{contender, false}, {contender, true}} {
				var run []string
				for _, spec := range specs() {
					if isAlpha(spec) == s.alpha && wanted.MatchString(spec) {
						run = append(run, spec)
					}
				}
				if len(run) > 0 {
					play(t, s, run, &r)
				}
			}
			for _, spec := range specs() {
				if o := r.Specs[spec]; o.Outcome == failed && contender == ours {
					t.Errorf("%s: %s", spec, o.Said)
				}
			}
			if *only == "" {
				if err := r.save(contender); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if *only == "" {
		judge(t)
	}
}

// judge compares the page with the outcomes, or writes it. For a contender that did not run now, the last run counts.
func judge(t *testing.T) {
	mine, err := load(ours)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := load(builtin)
	if err != nil {
		t.Fatal(err)
	}
	text := page(mine.Version, mine.Specs, theirs.Specs)
	if *update {
		name, err := pageFile()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := readPage(); err != nil || now != text {
		t.Errorf("docs/conformance-e2e.md is stale (%v): 'make conformance' writes it", err)
	}
}

// hostDir is the directory of the specs' files on the node.
const hostDir = "/tmp/job-e2e"

// play runs specs in their own cluster, and adds the outcomes to the record.
func play(t *testing.T, s setting, run []string, into *record) {
	c, err := s.start(t.Context(), "specs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(hostDir) })
	defer func() {
		if err := c.finish(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	into.Version = c.plane.Version()
	var mu sync.Mutex
	one := func(spec string, place int) error {
		r, err := c.run(t.Context(), spec, filepath.Join(node.Dir(), "logs", fmt.Sprintf("%s-%02d", s, place)))
		if err != nil {
			return fmt.Errorf("%s: %w", spec, err)
		}
		t.Logf("%s: %s: %s (%.0f s) %s", s, r.Outcome, spec, r.Seconds, r.Said)
		mu.Lock()
		defer mu.Unlock()
		into.Specs[spec] = r
		return nil
	}
	var group errgroup.Group
	group.SetLimit(beside)
	for i, spec := range run {
		if !isSerial(spec) {
			group.Go(func() error { return one(spec, i) })
		}
	}
	err = group.Wait()
	for i, spec := range run {
		if isSerial(spec) {
			err = errors.Join(err, one(spec, i))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// run runs one spec in its own process. Output and report go into dir.
func (c *cluster) run(ctx context.Context, spec, dir string) (result, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return result{}, err
	}
	out, err := os.Create(filepath.Join(dir, "output.txt"))
	if err != nil {
		return result{}, err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, c.plane.Program(binaries.E2E),
		"--kubeconfig="+c.plane.Kubeconfig(), "--provider=skeleton", "--ginkgo.focus="+regexp.QuoteMeta(spec)+"$", "--ginkgo.no-color",
		"--ginkgo.timeout=30m", "--report-dir="+dir)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	ended, err := child.Start(cmd)
	if err != nil {
		return result{}, err
	}
	end := <-ended // also an error if a spec failed; the report says so
	text, err := os.ReadFile(filepath.Join(dir, "junit_01.xml"))
	if err != nil {
		return result{}, errors.Join(end, err)
	}
	return readReport(text, spec)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// suite is tests that are built once and run for every mutant that they reach.
type suite struct {
	name   string
	dir    string // of the package
	skip   string // tests that measure
	only   string // the tests that count; empty for all
	binary string
	env    []string
	seen   map[int]bool
	limit  int // seconds of processor time; more is a mutant that never ends
}

// measuring are tests that count allocations: they take long, and a rule is not their subject.
const measuring = "Allocations|Costs"

// searching are tests that try many random histories.
const searching = "^TestCountsThatAreKept|^TestAStateIsTheSame"

// build compiles the suites with all mutants in them, and runs each without any: it must pass, and tells which it reaches.
func build(ctx context.Context, dir, overlay string, seeds int) ([]*suite, error) {
	suites := []*suite{ // what is quick goes first
		{name: "reconciler", dir: "reconciler", skip: measuring},
		{name: "scripts", dir: "reconciler/loop", only: "^TestScripts$"},
		{name: "tables", dir: "projector", skip: measuring + "|" + searching},
		{name: "loop", dir: "reconciler/loop"},
		{name: "projector", dir: "projector", skip: measuring},
		{name: "observe", dir: "reconciler/observe"},
		{name: "crons", dir: "internal/sim/crons", skip: "^TestAYear"},
	}
	if seeds > 0 {
		suites = append(suites, &suite{
			name: "sim", dir: "internal/sim/drive", only: "^TestSeeds", env: []string{fmt.Sprintf("JOBLEDGER_SEEDS=%d", seeds)},
		})
	}
	for _, s := range suites {
		s.binary = filepath.Join(dir, s.name+".test")
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", s.binary, "./"+s.dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("build %s: %w", s.name, err)
		}
		if err := s.baseline(ctx, filepath.Join(dir, s.name+".seen")); err != nil {
			return nil, err
		}
	}
	return suites, nil
}

func (s *suite) baseline(ctx context.Context, file string) error {
	s.limit = 600
	r, err := s.run(ctx, "MUTANT_SEEN="+file)
	if err != nil {
		return err
	}
	if r.killed {
		return fmt.Errorf("%s fails without any mutant:\n%s", s.name, r.out)
	}
	s.limit = 5 + int(5*r.took.Seconds())
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.seen = map[int]bool{}
	for _, line := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(line)
		if err != nil {
			return err
		}
		s.seen[n] = true
	}
	fmt.Printf("%s: %.1f s, reaches %d mutants\n", s.name, r.took.Seconds(), len(s.seen))
	return nil
}

// starved is how many times as long as its processor time a suite may take on a machine that has much else to do. One that takes
// longer waits for what never comes.
const starved = 30

// result is how a run of a suite ended.
type result struct {
	killed bool          // a test failed, panicked or did not end
	took   time.Duration // of processor time, unless it was killed
	out    string
}

// run runs the suite once.
func (s *suite) run(ctx context.Context, env ...string) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(starved*s.limit)*time.Second)
	defer cancel()
	args := []string{"-c", `ulimit -t "$0" && exec "$@"`, strconv.Itoa(s.limit), s.binary, "-test.failfast", "-test.short"}
	if s.only != "" {
		args = append(args, "-test.run", s.only)
	}
	if s.skip != "" {
		args = append(args, "-test.skip", s.skip)
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "GOMEMLIMIT=512MiB", "GOMAXPROCS=1"), append(s.env, env...)...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if parent := context.Cause(ctx); errors.Is(parent, context.Canceled) {
		return result{}, parent
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) || ctx.Err() != nil {
		return result{killed: true, out: text.String()}, nil
	}
	if err != nil {
		return result{}, err
	}
	return result{took: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// try runs every mutant until a suite kills it, as many at once as there are processors. Mutants with a reason are run too: one
// that is killed needs none.
func try(ctx context.Context, suites []*suite, mutants []*mutant, reasons map[string]string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for k, m := range mutants {
		group.Go(func() error {
			if k%100 == 0 {
				fmt.Printf("%d of %d\n", k, len(mutants))
			}
			if err := m.try(ctx, suites); err != nil {
				return err
			}
			if m.killed == "" && reasons[m.name()] == "" {
				fmt.Printf("%d of %d: %s:%d survives: %s\n", k+1, len(mutants), m.file, m.line, m.name())
			}
			return nil
		})
	}
	return group.Wait()
}

func (m *mutant) try(ctx context.Context, suites []*suite) error {
	m.unseen = true
	for _, s := range suites {
		if !s.seen[m.id] {
			continue
		}
		m.unseen = false
		r, err := s.run(ctx, "MUTANT="+strconv.Itoa(m.id))
		if err != nil {
			return err
		}
		if r.killed {
			m.killed = s.name
			break
		}
	}
	return nil
}

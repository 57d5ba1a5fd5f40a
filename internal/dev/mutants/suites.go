package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// suite is a set of tests of one package. It is compiled once, and run for each mutant that it reaches.
type suite struct {
	name string
	dir  string // directory of the package
	skip string // tests to skip, because they only measure
	only string // the tests of the suite; empty for all
	// run each test alone once, to learn which mutants it reaches; only these tests then run for a mutant
	apart  bool
	rows   []string // subtests (of the test in only) that are run one by one
	binary string
	env    []string
	parts  []part
}

// part is a group of tests of a suite that run together.
type part struct {
	run   string // pattern of the tests; empty for all
	seen  map[int]bool
	took  time.Duration // processor time without a mutant
	limit int           // in seconds of processor time; a run that exceeds it counts as an endless loop
}

// build compiles the suites with all mutants in the code. Then it runs each suite once with no mutant active: this
// run must pass, and shows which mutants the suite reaches. Suites of one package share a test binary.
func build(ctx context.Context, dir, overlay string, suites []*suite) error {
	built := map[string]string{}
	for _, s := range suites {
		if s.binary = built[s.dir]; s.binary == "" {
			s.binary = filepath.Join(dir, s.name+".test")
			cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", s.binary, ".")
			// go must run in the suite's directory, because the directory test is a module of its own
			cmd.Dir, cmd.Stderr = s.dir, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("build %s: %w", s.name, err)
			}
			built[s.dir] = s.binary
		}
		if err := s.baseline(ctx, filepath.Join(dir, s.name+".seen")); err != nil {
			return err
		}
	}
	return nil
}

// whole makes each suite run all its tests at once, not one by one. That suffices to see which mutants a suite
// reaches.
func whole(suites []*suite) []*suite {
	for _, s := range suites {
		s.apart = false
		if len(s.rows) > 0 {
			s.only, s.rows = s.only+"/^("+strings.Join(s.rows, "|")+")$", nil
		}
	}
	return suites
}

// baseline runs the suite without an active mutant, and stores which mutants each part (group of tests) reaches.
func (s *suite) baseline(ctx context.Context, file string) error {
	parts, err := s.split(ctx)
	if err != nil {
		return err
	}
	s.parts = nil
	all, took := map[int]bool{}, time.Duration(0)
	for k, run := range parts {
		p := part{run: run, limit: 600}
		seen := fmt.Sprintf("%s.%d", file, k)
		r, err := s.run(ctx, run, p.limit, "MUTANT_SEEN="+seen)
		if err != nil {
			return err
		}
		if r.killed {
			return fmt.Errorf("%s %s fails without any mutant:\n%s", s.name, run, r.out)
		}
		p.took, p.limit = r.took, 5+int(5*r.took.Seconds())
		if p.seen, err = readSeen(seen); err != nil {
			return err
		}
		maps.Copy(all, p.seen)
		took += r.took
		s.parts = append(s.parts, p)
	}
	fmt.Printf("%s: %.1f s, reaches %d mutants\n", s.name, took.Seconds(), len(all))
	return nil
}

// split returns the parts of a suite, as values for -run: one for each row, one for each test if apart is set, else one
// for all tests.
func (s *suite) split(ctx context.Context) ([]string, error) {
	if len(s.rows) > 0 {
		parts := make([]string, 0, len(s.rows))
		for _, row := range s.rows {
			parts = append(parts, s.only+"/^"+row+"$")
		}
		return parts, nil
	}
	if !s.apart {
		return []string{s.only}, nil
	}
	cmd := exec.CommandContext(ctx, s.binary, "-test.list", cmp.Or(s.only, "."))
	cmd.Dir = s.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", s.name, err)
	}
	skip, err := regexp.Compile(cmp.Or(s.skip, "^$"))
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Test") && !skip.MatchString(name) {
			parts = append(parts, "^"+name+"$")
		}
	}
	return parts, nil
}

// readSeen returns the numbers of the mutants that a run reached, from the file that the run wrote.
func readSeen(file string) (map[int]bool, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	seen := map[int]bool{}
	for _, line := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(line)
		if err != nil {
			return nil, err
		}
		seen[n] = true
	}
	return seen, nil
}

// chosen is a group of tests of one suite that reach a mutant. They run together.
type chosen struct {
	suite *suite
	run   string
	took  time.Duration
	limit int
}

// quick is the time below which tests of a suite run together in one process. Starting a process takes about as long,
// so a process for each of them would double the cost.
const quick = 200 * time.Millisecond

// reaching returns the tests to run for a mutant: of each suite, the quick tests that reach it together, and each
// slower one alone. The cheapest come first, because they notice most mutants.
func reaching(suites []*suite, m *mutant) (out []chosen) {
	for _, s := range suites {
		together := chosen{suite: s}
		for _, p := range s.parts {
			switch {
			case !p.seen[m.id]:
			case p.took > quick || p.run == "":
				out = append(out, chosen{s, p.run, p.took, p.limit})
			default:
				together.run = strings.TrimPrefix(together.run+"|"+p.run, "|")
				together.took, together.limit = together.took+p.took, together.limit+p.limit
			}
		}
		if together.run != "" {
			out = append(out, together)
		}
	}
	slices.SortStableFunc(out, func(a, b chosen) int { return cmp.Compare(a.took, b.took) })
	return out
}

// starved is the factor between the limit of processor time and the limit of elapsed time. Example: with a limit of 2
// s, a run may take 60 s on a busy machine; after that it counts as one that waits forever.
const starved = 30

// result is the outcome of one run of tests with an active mutant.
type result struct {
	killed bool          // a test failed, panicked or did not end
	waited bool          // it reached the limit of elapsed time: it waits forever, or the machine was too busy
	took   time.Duration // processor time, unless it was killed
	out    string
}

// run runs tests of the suite once; empty tests means all. limit is in seconds of processor time.
func (s *suite) run(ctx context.Context, tests string, limit int, env ...string) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(starved*limit)*time.Second)
	defer cancel()
	args := []string{"-c", `ulimit -t "$0" && exec "$@"`, strconv.Itoa(limit), s.binary, "-test.failfast", "-test.short"}
	if tests != "" {
		args = append(args, "-test.run", tests)
	}
	if s.skip != "" {
		args = append(args, "-test.skip", s.skip)
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "GOMEMLIMIT=512MiB", "GOMAXPROCS=1", "JOBLEDGER_WHOLE=1"), append(s.env, env...)...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.WaitDelay = time.Second
	// A process group of its own, so that processes started by the tests can be killed with them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if parent := context.Cause(ctx); errors.Is(parent, context.Canceled) {
		return result{}, parent
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) || ctx.Err() != nil {
		late := errors.Is(context.Cause(ctx), context.DeadlineExceeded)
		return result{killed: true, waited: late, out: text.String()}, nil
	}
	if err != nil {
		return result{}, err
	}
	return result{took: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// try runs the tests for each mutant until one of them notices it, with as many runs at a time as GOMAXPROCS says.
// Mutants with a reason in equivalent.txt are tried, too: if a test notices one, its reason is wrong.
func try(ctx context.Context, suites []*suite, mutants []*mutant, reasons map[string]string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	p := progress{of: len(mutants), began: time.Now(), reasons: reasons}
	for _, m := range mutants {
		group.Go(func() error {
			err := m.try(ctx, suites)
			if err == nil {
				p.tried(m)
			}
			return err
		})
	}
	return group.Wait()
}

func (m *mutant) try(ctx context.Context, suites []*suite) error {
	tests := reaching(suites, m)
	m.unseen = len(tests) == 0
	for _, c := range tests {
		r, err := c.suite.run(ctx, c.run, c.limit, "MUTANT="+strconv.Itoa(m.id))
		if err != nil {
			return err
		}
		if r.killed {
			m.killed, m.waited = c.suite.name, r.waited
			break
		}
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// readReasons reads equivalent.txt. Each entry is the name of a mutant and, indented below it, the reason why no test
// can distinguish it from the original.
func readReasons(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return map[string]string{}, nil
	}
	reasons := map[string]string{}
	name := ""
	for n, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] != ' ':
			name = line
		case name == "":
			return nil, fmt.Errorf("%s:%d: a reason of nothing", file, n+1)
		default:
			reasons[name] = strings.TrimSpace(reasons[name] + " " + strings.TrimSpace(line))
		}
	}
	return reasons, err
}

// permille returns n of a total in thousandths, rounded down, so that 9999 of 10000 is not reported as all.
func permille(n, of int) int { return 1000 * n / max(of, 1) }

// progress reports the progress of a run. It is safe for concurrent use.
type progress struct {
	of      int
	began   time.Time
	reasons map[string]string

	mu            sync.Mutex
	done, noticed int
}

// tried counts a mutant. It prints a survivor at once, so a run is useful before it ends.
func (p *progress) tried(m *mutant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	switch {
	case m.killed != "":
		p.noticed++
	case p.reasons[m.name()] == "":
		fmt.Printf("%s:%d survives: %s\n", m.file, m.line, m.name())
	}
	if p.done%25 == 0 || p.done == p.of {
		gone := time.Since(p.began)
		left := gone / time.Duration(p.done) * time.Duration(p.of-p.done)
		fmt.Printf("%d of %d tried, %d killed, in %s; about %s to go\n", p.done, p.of, p.noticed, gone.Round(time.Second), left.Round(time.Second))
	}
}

// tellUnseen lists the mutants that no suite reaches in a state in which they could matter, except those with a reason
// in equivalent.txt. They are sure to survive, so they are not tried. It returns true if there are none.
func tellUnseen(mutants []*mutant, suites []*suite, reasons map[string]string) bool {
	unseen := 0
	for _, m := range mutants {
		if len(reaching(suites, m)) == 0 && reasons[m.name()] == "" {
			fmt.Printf("%s:%d not reached: %s\n", m.file, m.line, m.name())
			unseen++
		}
	}
	fmt.Printf("%d of %d are not reached\n", unseen, len(mutants))
	return unseen == 0
}

// count holds the numbers of mutants by outcome.
type count struct{ made, killed, excused, survived, unseen int }

// tally holds the counts by section, or by package.
type tally struct {
	names  []string // in the order of the table
	counts map[string]*count
}

func (t *tally) of(name string) *count {
	if t.counts[name] == nil {
		t.names = append(t.names, name)
		t.counts[name] = &count{}
	}
	return t.counts[name]
}

// group returns the name under which a mutant is counted.
func (s *scope) group(m *mutant) string {
	switch {
	case !s.sections:
		return m.pkg
	case m.section < 0:
		return "none"
	}
	return fmt.Sprint(m.section)
}

// report prints the outcomes and lists the survivors. It returns true if at least the given percentage of the mutants
// was killed (mutants with a reason in equivalent.txt do not count) and every reason is needed. all says that all
// mutants were tried; then a reason for a mutant that does not exist is an error.
func report(mutants []*mutant, reasons map[string]string, of *scope, all bool, least int) bool {
	by := tally{counts: map[string]*count{}}
	if of.sections {
		for k := range len(sectionEnds) + 1 {
			by.of(of.group(&mutant{section: k - 1}))
		}
	}
	known := map[string]bool{}
	var idle, survivors []string
	sum := count{}
	for _, m := range mutants {
		reason := reasons[m.name()]
		known[m.name()] = true
		for _, c := range []*count{by.of(of.group(m)), &sum} {
			c.made++
			switch {
			case m.killed != "":
				c.killed++
			case reason != "":
				c.excused++
			case m.unseen:
				c.unseen++
				c.survived++
			default:
				c.survived++
			}
		}
		switch {
		case m.killed != "" && reason != "":
			idle = append(idle, "killed, though equivalent.txt excuses it: "+m.name())
		case m.killed == "" && reason == "":
			survivors = append(survivors, fmt.Sprintf("%s:%d survives: %s", m.file, m.line, m.name()))
		}
	}
	for name := range reasons {
		if all && !known[name] {
			idle = append(idle, "equivalent.txt excuses what does not exist: "+name)
		}
	}
	by.print(sum)
	slices.Sort(idle)
	for _, b := range append(idle, survivors...) {
		fmt.Println(b)
	}
	told := sum.made - sum.excused
	fmt.Printf("%d of %d that can be told from the original are killed: %d.%d %%\n", sum.killed, told, permille(sum.killed, told)/10,
		permille(sum.killed, told)%10)
	if n := starving(mutants); n > 0 {
		fmt.Printf("%d of them did not end in time: on a busy machine that does not say that a test noticed\n", n)
	}
	return len(idle) == 0 && 100*sum.killed >= least*told
}

// starving returns how many mutants count as killed only because the run took too long. A run that waits forever cannot
// be told from a run that got no processor time.
func starving(mutants []*mutant) (n int) {
	for _, m := range mutants {
		if m.waited {
			n++
		}
	}
	return n
}

func (t *tally) print(sum count) {
	fmt.Printf("\n%-20s %6s %6s %10s %8s %8s\n", "", "made", "killed", "equivalent", "survived", "unseen")
	row := func(name string, c count) {
		if c.made > 0 {
			fmt.Printf("%-20s %6d %6d %10d %8d %8d\n", name, c.made, c.killed, c.excused, c.survived, c.unseen)
		}
	}
	for _, name := range t.names {
		row(name, *t.counts[name])
	}
	row("all", sum)
}

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

// readReasons reads equivalent.txt. Each entry is the name of a mutant and, indented below it, why no test can tell the
// changed code from the original.
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

// permille returns the share n/of in thousandths, rounded down: 9999 of 10000 gives 999, not 1000.
func permille(n, of int) int { return 1000 * n / max(of, 1) }

// progress counts the mutants that were tried, and prints how far a run is. It is safe for concurrent use.
type progress struct {
	of      int
	began   time.Time
	reasons map[string]string

	mu            sync.Mutex
	done, noticed int
}

// tried counts a mutant that was tried. If no test noticed the change, it prints the mutant at once, so that a run is
// useful before it ends.
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

// tellUnseen lists the mutants that no test reaches in a state in which they could matter, except those with a reason
// in equivalent.txt. They would certainly survive, so they are not tried. It returns true if there are none.
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

// count has the numbers of mutants by outcome; killed means that a test noticed the change, excused that
// equivalent.txt has a reason why none can.
type count struct{ made, killed, excused, survived, unseen int }

// tally has the counts of mutants for each section of the contract, or for each package.
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

// group returns the name under which the tally counts a mutant: a section of the contract, or a package.
func (s *scope) group(m *mutant) string {
	switch {
	case !s.sections:
		return m.pkg
	case m.section < 0:
		return "none"
	}
	return fmt.Sprint(m.section)
}

// report prints the outcomes, and lists the mutants (changes of the code) that no test noticed. It returns true if
// tests noticed at least the percentage least of the mutants, and every reason in equivalent.txt is needed; mutants
// with a reason there do not count. all says that all mutants were tried; then a reason for a mutant that does not
// exist is an error.
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

// starving returns how many mutants count as killed only because a run of tests took too long. Some of them may be
// alive: a run that got no processor time looks like one that waits forever.
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

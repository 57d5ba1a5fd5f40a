package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// readReasons reads equivalent.txt: the name of a mutant, and indented below it the reason why no test can tell it from the original.
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

// report prints what became of the mutants, by section, and lists survivors. It reports whether all is well.
func report(mutants []*mutant, reasons map[string]string, all bool) bool {
	type count struct{ made, killed, excused, survived, unseen int }
	counts := make([]count, len(sectionEnds)+1)
	known := map[string]bool{}
	var bad []string
	for _, m := range mutants {
		c := &counts[m.section+1]
		c.made++
		reason := reasons[m.name()]
		known[m.name()] = true
		switch {
		case m.killed != "" && reason != "":
			bad = append(bad, "killed, though equivalent.txt excuses it: "+m.name())
			c.killed++
		case m.killed != "":
			c.killed++
		case reason != "":
			c.excused++
		default:
			c.survived++
			if m.unseen {
				c.unseen++
			}
			bad = append(bad, fmt.Sprintf("%s:%d survives: %s", m.file, m.line, m.name()))
		}
	}
	for name := range reasons {
		if all && !known[name] {
			bad = append(bad, "equivalent.txt excuses what does not exist: "+name)
		}
	}
	fmt.Printf("\n%-10s %6s %6s %10s %8s %8s\n", "section", "made", "killed", "equivalent", "survived", "unseen")
	sum := count{}
	for k, c := range counts {
		if c.made == 0 {
			continue
		}
		name := "none"
		if k > 0 {
			name = fmt.Sprint(k - 1)
		}
		fmt.Printf("%-10s %6d %6d %10d %8d %8d\n", name, c.made, c.killed, c.excused, c.survived, c.unseen)
		sum = count{sum.made + c.made, sum.killed + c.killed, sum.excused + c.excused, sum.survived + c.survived, sum.unseen + c.unseen}
	}
	fmt.Printf("%-10s %6d %6d %10d %8d %8d\n", "all", sum.made, sum.killed, sum.excused, sum.survived, sum.unseen)
	for _, b := range bad {
		fmt.Println(b)
	}
	return len(bad) == 0
}

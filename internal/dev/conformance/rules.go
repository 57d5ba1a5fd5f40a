package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// ruleID matches the identifier of a rule.
var ruleID = regexp.MustCompile(`\b[JCTO]-\d{3}\b`)

// rule is one rule of a contract. An inner rule describes a mechanism of the built-in controller that Jobledger
// replaces by an invariant of its own. A stricter rule forbids an error that the built-in controller allows.
type rule struct {
	id       string
	inner    bool // the rule describes a mechanism of the built-in controller that Jobledger does not have
	stricter bool
	entry    *entry // the line of rules.txt that covers the rule; nil if there is none
}

// entry is one line of rules.txt, such as "J-061 to J-063 (built-in) TITLE". It gives one or several rules a title,
// and says whether they need a test.
type entry struct {
	ids []string
	// why no test is required: the word builtIn, or "with" and a future feature; "" if a test is required
	standing string
	title    string
}

// builtIn is the standing (the word in brackets in rules.txt) of rules that only describe the built-in controllers,
// and so need no test.
const builtIn = "built-in"

// later reports whether the entry is about a feature that does not exist yet: its standing is "with FEATURE". Such
// rules need no test yet.
func (e *entry) later() bool { return strings.HasPrefix(e.standing, "with ") }

// entryLine matches a line of rules.txt, such as "J-061 to J-063 (built-in) TITLE": the rules; in brackets, if they
// need no test, the reason ("built-in" or "with FEATURE"); and a title.
var entryLine = regexp.MustCompile(`^(` + one + `(?: to ` + one + `)?)(?: \((` + builtIn + `|with [^)]+)\))? (.+)$`)

// readEntries returns the entries (lines) of rules.txt.
func readEntries(file string) ([]*entry, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var entries []*entry
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		m := entryLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s:%d: want a rule's id, its standing in brackets if it has one, and its title: %q", file, n+1, line)
		}
		entries = append(entries, &entry{ids: expand(m[1]), standing: m[2], title: m[3]})
	}
	return entries, nil
}

// assign finds for each rule of the contracts its entry (line of rules.txt). An entry such as "061 to 068" covers
// those rules of the range that exist; numbers may be missing. found has the errors.
func (b *book) assign(entries []*entry) (found []string) {
	last := ""
	for _, e := range entries {
		e.ids = slices.DeleteFunc(e.ids, func(id string) bool { return len(e.ids) > 1 && b.rules[id] == nil })
		for _, id := range e.ids {
			switch r := b.rules[id]; {
			case r == nil:
				found = append(found, fmt.Sprintf("%s: %s is in no contract", rulesFile, id))
			case r.entry != nil:
				found = append(found, fmt.Sprintf("%s: %s stands there twice", rulesFile, id))
			case last != "" && last[0] == id[0] && last > id:
				found = append(found, fmt.Sprintf("%s: %s stands behind %s", rulesFile, id, last))
			default:
				r.entry = e
			}
			last = id
		}
	}
	return found
}

// gaps returns three kinds of errors: rules without a line in rules.txt, rules that need a test and have none, and
// rules of future features that already have a test.
func (b *book) gaps(h *harvested) (found []string) {
	for _, c := range b.contracts {
		for _, s := range c.sections {
			for _, r := range s.rules {
				facts := h.facts[r.id]
				switch {
				case r.entry == nil:
					found = append(found, fmt.Sprintf("%s: %s has no line", rulesFile, r.id))
				case r.entry.standing == "" && len(facts) == 0:
					found = append(found, fmt.Sprintf("%s has no test: %s", r.id, r.entry.title))
				case r.entry.later() && len(facts) > 0:
					found = append(found, fmt.Sprintf("%s comes %s, as %s has it, and %s proves it already", r.id, r.entry.standing, rulesFile, facts[0].test))
				}
			}
		}
	}
	return found
}

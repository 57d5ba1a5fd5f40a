package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// contractFiles are the paths of the contracts (the files with the rules), in the order of the page.
var contractFiles = []string{
	"docs/contract/job.md", "docs/contract/operations.md", "docs/contract/cronjob.md", "docs/contract/ttl.md",
}

// book has all contracts (files with the rules that the controller obeys). The map rules finds a rule by its
// identifier, such as "J-061".
type book struct {
	contracts []contract
	rules     map[string]*rule
}

// contract is one file with rules, in sections.
type contract struct {
	file, title string
	sections    []section
}

type section struct {
	title string
	rules []*rule
}

var (
	// defined matches a line that states a rule: an item of a list, or a row of a table.
	defined = regexp.MustCompile(`^(?:- (?:\*\*)?|\| )(` + one + `)\b`)
	mark    = regexp.MustCompile(`\[([A-Z])\]`)
)

// readBook reads all contracts.
func readBook(root string) (*book, error) {
	b := &book{rules: map[string]*rule{}}
	for _, file := range contractFiles {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		if err := b.read(file, string(text)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// read reads the rules of one contract file. The text of a rule ends at the next empty line, heading or table row. A
// mark such as [I] belongs to the rule whose text contains it.
func (b *book) read(file, text string) error {
	c := contract{file: file}
	var open *rule
	for n, line := range strings.Split(text, "\n") {
		m := defined.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "# "):
			c.title = line[2:]
		case strings.HasPrefix(line, "## "):
			c.sections = append(c.sections, section{title: line[3:]})
		case m != nil && len(c.sections) == 0:
			return fmt.Errorf("%s:%d: %s stands before the first section", file, n+1, m[1])
		case m != nil && b.rules[m[1]] != nil:
			return fmt.Errorf("%s:%d: %s stands there twice", file, n+1, m[1])
		case m != nil:
			open = &rule{id: m[1]}
			b.rules[open.id] = open
			s := &c.sections[len(c.sections)-1]
			s.rules = append(s.rules, open)
		}
		if line == "" || line[0] == '#' || m == nil && line[0] == '|' {
			open = nil
		}
		if open != nil {
			open.mark(line)
		}
	}
	b.contracts = append(b.contracts, c)
	return nil
}

// mark sets the flags of a rule from the marks in one line of its text: [I] for inner, [S] for stricter. The type rule
// explains both.
func (r *rule) mark(line string) {
	if r.id[0] != 'J' {
		return // only the Job contract has these marks; in the others, [S] means the API server
	}
	for _, m := range mark.FindAllStringSubmatch(line, -1) {
		r.inner = r.inner || m[1] == "I"
		r.stricter = r.stricter || m[1] == "S"
	}
}

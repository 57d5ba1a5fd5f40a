package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ruleID is how a rule is cited.
var ruleID = regexp.MustCompile(`\bJ-\d{3}\b`)

// contract is the rules in their order.
type contract struct {
	sections []section
}

type section struct {
	title string
	rules []rule
}

type rule struct {
	id, title string
	inner     bool // about the built-in's inner mechanism: ours has an invariant instead
	stricter  bool
}

// marks are the letters that may stand behind an id; "-" is none.
var marks = regexp.MustCompile(`^(-|[AIST]+)$`)

func readContract(file string) (*contract, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &contract{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if err := c.line(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return c, nil
}

func (c *contract) line(line string) error {
	switch title, ok := strings.CutPrefix(line, "## "); {
	case ok:
		c.sections = append(c.sections, section{title: title})
		return nil
	case line == "" || line[0] == '#':
		return nil
	}
	words := strings.Fields(line)
	if len(words) < 3 || ruleID.FindString(words[0]) != words[0] || !marks.MatchString(words[1]) || len(c.sections) == 0 {
		return fmt.Errorf("want a rule's id, its marks and its title, in a section: %q", line)
	}
	r := rule{id: words[0], inner: strings.Contains(words[1], "I"), stricter: strings.Contains(words[1], "S")}
	r.title = strings.Join(words[2:], " ")
	if want := fmt.Sprintf("J-%03d", c.count()+1); r.id != want {
		return fmt.Errorf("%s stands where %s should", r.id, want)
	}
	last := &c.sections[len(c.sections)-1]
	last.rules = append(last.rules, r)
	return nil
}

func (c *contract) count() int {
	n := 0
	for _, s := range c.sections {
		n += len(s.rules)
	}
	return n
}

// gaps are the rules that no test proves.
func (c *contract) gaps(h *harvested) []string {
	var found []string
	for _, s := range c.sections {
		for _, r := range s.rules {
			if len(h.facts[r.id]) == 0 {
				found = append(found, fmt.Sprintf("%s has no test: %s", r.id, r.title))
			}
		}
	}
	return found
}

// unknownRules are citations, anywhere in the repository, of rules that do not exist.
func unknownRules(root string, c *contract) (found []string, err error) {
	known := map[string]bool{}
	for _, s := range c.sections {
		for _, r := range s.rules {
			known[r.id] = true
		}
	}
	err = walk(root, func(file string) error {
		if !slices.Contains([]string{".go", ".txt", ".txtar", ".md", ".proto"}, filepath.Ext(file)) {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			for _, id := range ruleID.FindAllString(line, -1) {
				if !known[id] {
					found = append(found, fmt.Sprintf("%s:%d: there is no rule %s", file, n+1, id))
				}
			}
		}
		return nil
	})
	return found, err
}

// walk visits the files of the repository that people write, by their slash-separated paths from the root.
func walk(root string, visit func(file string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch file = filepath.ToSlash(file); {
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "test/bin", "proto/gen", "internal/conformance/testdata"}, file):
			return filepath.SkipDir
		case d.Type().IsRegular():
			return visit(file)
		}
		return nil
	})
}

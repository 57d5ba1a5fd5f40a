package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	designRef  = regexp.MustCompile(`§(\d+)(?:, invariant (\d+))?`)
	designPart = regexp.MustCompile(`^## (\d+)\. (.*)`)
	numbered   = regexp.MustCompile(`^(\d+)\. `)
	sectionRef = regexp.MustCompile(`(?i)\bsections? \d+ of the\b|\bcontract section \d`)
)

// design holds the parts of docs/design.md that can be cited: "2" is section 2, "2, invariant 7" is the seventh item of
// the list in a section titled Invariants.
type design map[string]bool

func readDesign(root string) (design, error) {
	text, err := os.ReadFile(filepath.Join(root, designFile))
	if err != nil {
		return nil, err
	}
	d := design{}
	section, invariants := "", false
	for line := range strings.Lines(string(text)) {
		if m := designPart.FindStringSubmatch(line); m != nil {
			section, invariants = m[1], strings.TrimSpace(m[2]) == "Invariants"
			d[section] = true
		} else if m := numbered.FindStringSubmatch(line); m != nil && invariants {
			d[section+", invariant "+m[1]] = true
		}
	}
	return d, nil
}

// dangling returns citations of what does not exist: a rule, or a part of the design. It also returns places where code
// cites a section of a contract in place of a rule, and the invariants of the design that no test cites.
func dangling(root string, b *book, d design) (found []string, err error) {
	tested := map[string]bool{}
	err = walk(root, func(file string) error {
		if !written(file) {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			for _, id := range ruleID.FindAllString(line, -1) {
				if b.rules[id] == nil {
					found = append(found, fmt.Sprintf("%s:%d: there is no rule %s", file, n+1, id))
				}
			}
			if filepath.Ext(file) == ".go" && sectionRef.MatchString(line) {
				found = append(found, fmt.Sprintf("%s:%d: cite rules: nobody checks a section of the contract", file, n+1))
			}
			for _, m := range designRef.FindAllStringSubmatch(line, -1) {
				part := m[1]
				if m[2] != "" {
					part += ", invariant " + m[2]
				}
				tested[part] = tested[part] || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/testdata/")
				if !d[part] {
					found = append(found, fmt.Sprintf("%s:%d: the design has no §%s", file, n+1, part))
				}
			}
		}
		return nil
	})
	for _, part := range slices.Sorted(maps.Keys(d)) {
		if strings.Contains(part, ", ") && !tested[part] {
			found = append(found, fmt.Sprintf("%s: no test cites §%s", designFile, part))
		}
	}
	return found, err
}

// written reports whether a file of this name has sentences that people wrote.
func written(file string) bool {
	return filepath.Base(file) == "Makefile" || slices.Contains([]string{
		".go", ".txt", ".txtar", ".md", ".proto", ".yaml", ".yml", ".mjs", ".js", ".py", ".sh",
	}, filepath.Ext(file))
}

// walk calls visit for each file of the repository that people write, with its slash-separated path from the root.
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
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "test/bin", "proto/gen", "internal/dev/conformance/testdata"}, file):
			return filepath.SkipDir
		case d.Type().IsRegular():
			return visit(file)
		}
		return nil
	})
}

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"
)

// terms has the licence texts of a module, including those of third-party code in the module.
type terms struct {
	module, version string
	texts           []string // contents of the licence files without duplicates, sorted by path
}

// licenceFile matches the names of licence files.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notice|patents)([.-].*)?$`)

// termsOf returns the licences of Go and of the modules in a program. Their files are in the module cache, because the
// program was just compiled.
func termsOf(source, goVersion string, modules []*debug.Module) ([]terms, error) {
	out, err := output(source, []string{"GOFLAGS="}, "go", "env", "GOROOT", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	std := terms{module: "std", version: goVersion}
	for _, name := range []string{"LICENSE", "PATENTS"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && name == "LICENSE" {
			return nil, fmt.Errorf("the licence of Go: %w", err)
		}
		if err == nil {
			std.texts = append(std.texts, string(text))
		}
	}
	all := []terms{std}
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		t := terms{module: m.Path, version: m.Version}
		if err := t.read(filepath.Join(cache, escaped(m.Path)+"@"+escaped(m.Version))); err != nil {
			return nil, fmt.Errorf("the licence of %s@%s: %w", m.Path, m.Version, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// escaped returns a path in the form of the module cache, where A is written !a: some file systems ignore case.
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// read reads the licence files of a module's directory. It returns an error if there are none: such a module may not be
// distributed.
func (t *terms) read(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"testdata", "vendor", ".github"}, entry.Name()):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) || filepath.Ext(path) == ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && !slices.Contains(t.texts, string(text)) {
			t.texts = append(t.texts, string(text))
		}
		return err
	})
	if err == nil && len(t.ids()) == 0 {
		return fmt.Errorf("%s has no text of a licence that is known here", dir)
	}
	return err
}

// known lists licences by their SPDX names, each with words. A licence text gets the first name of the list whose
// words all occur in the text.
var known = []struct {
	id    string
	words []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}},
	{"MPL-2.0", []string{"Mozilla Public License", "2.0"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "endorse or promote products"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}},
	{"MIT", []string{"Permission is hereby granted, free of charge"}},
	{"ISC", []string{"Permission to use, copy, modify, and", "distribute this software for any purpose"}},
	{"CC0-1.0", []string{"CC0 1.0 Universal"}},
	{"Unlicense", []string{"This is free and unencumbered software"}},
}

// ids returns the SPDX names of the licences in the texts.
func (t *terms) ids() (ids []string) {
	for _, text := range t.texts {
		words := strings.Join(strings.Fields(text), " ")
		for _, k := range known {
			if !slices.ContainsFunc(k.words, func(w string) bool { return !strings.Contains(words, w) }) {
				ids = append(ids, k.id)
				break
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// textOf returns all licences as one text. A text that several modules share appears once, below their names.
func textOf(all []terms) []byte {
	var b bytes.Buffer
	b.WriteString("The program jobledger is made of the Go modules below, besides its own source (Apache-2.0). These are their licences.\n")
	told := map[string]bool{}
	for _, t := range all {
		for _, text := range t.texts {
			if told[text] {
				continue
			}
			told[text] = true
			fmt.Fprintf(&b, "\n%s\n", strings.Repeat("=", 80))
			for _, other := range all {
				if slices.Contains(other.texts, text) {
					fmt.Fprintf(&b, "%s %s\n", other.module, other.version)
				}
			}
			fmt.Fprintf(&b, "%s\n\n%s\n", strings.Repeat("-", 80), strings.TrimSpace(text))
		}
	}
	return b.Bytes()
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// The files that this command reads and writes, as paths from the repository's root.
const (
	rulesFile       = "internal/dev/conformance/rules.txt"
	differencesFile = "internal/dev/conformance/differences.md"
	designFile      = "docs/design.md"
	pageFile        = "docs/conformance.md"
	pagesDir        = "docs/conformance"
)

func main() {
	root := flag.String("root", ".", "the repository")
	write := flag.Bool("write", false, "write "+pageFile+" and the pages below "+pagesDir+" instead of checking them")
	flag.Parse()
	found, err := run(*root, *write)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Fprintln(os.Stderr, f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// run checks the citations of rules in the whole repository. If write is true, it also writes the pages. found
// describes what is wrong; err means that the check itself failed.
func run(root string, write bool) (found []string, err error) {
	book, err := readBook(root)
	if err != nil {
		return nil, err
	}
	entries, err := readEntries(filepath.Join(root, rulesFile))
	if err != nil {
		return nil, err
	}
	design, err := readDesign(root)
	if err != nil {
		return nil, err
	}
	differences, err := os.ReadFile(filepath.Join(root, differencesFile))
	if err != nil {
		return nil, err
	}
	h, err := harvest(root)
	if err != nil {
		return nil, err
	}
	found = append(h.complaints, book.assign(entries)...)
	found = append(found, book.gaps(h)...)
	nowhere, err := dangling(root, book, design)
	if err != nil {
		return nil, err
	}
	found = append(found, nowhere...)

	pages := book.pages(h, string(differences))
	if write {
		return found, writePages(root, pages)
	}
	for _, file := range slices.Sorted(maps.Keys(pages)) {
		if old, err := os.ReadFile(filepath.Join(root, file)); err != nil || string(old) != pages[file] {
			found = append(found, file+" is stale: run 'make contract UPDATE=1'")
		}
	}
	old, err := pagesOfNoSection(root, pages)
	for _, file := range old {
		found = append(found, file+" is of no section: run 'make contract UPDATE=1'")
	}
	return found, err
}

// writePages writes the pages, and removes the pages of sections that do not exist any more.
func writePages(root string, pages map[string]string) error {
	// Create the directory if it is missing, because git does not store empty ones.
	if err := os.MkdirAll(filepath.Join(root, pagesDir), 0o755); err != nil {
		return err
	}
	for file, text := range pages {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	old, err := pagesOfNoSection(root, pages)
	for _, file := range old {
		err = errors.Join(err, os.Remove(filepath.Join(root, file)))
	}
	return err
}

// pagesOfNoSection returns the existing pages that belong to no section, as paths from the root.
func pagesOfNoSection(root string, pages map[string]string) (old []string, err error) {
	there, err := filepath.Glob(filepath.Join(root, pagesDir, "*.md"))
	for _, file := range there {
		if name := pagesDir + "/" + filepath.Base(file); pages[name] == "" {
			old = append(old, name)
		}
	}
	return old, err
}

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// The sources and the page, from the repository's root.
const (
	rulesFile       = "internal/conformance/rules.txt"
	differencesFile = "internal/conformance/differences.md"
	designFile      = "docs/design.md"
	pageFile        = "docs/conformance.md"
)

func main() {
	root := flag.String("root", ".", "the repository")
	write := flag.Bool("write", false, "write "+pageFile+" instead of checking it")
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

// run checks the tree and, when write is set, writes the page. What it finds is for people; an error means that it could not
// look.
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

	page := book.page(h, string(differences))
	file := filepath.Join(root, pageFile)
	if write {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { // git keeps no empty directory of a test's tree
			return found, err
		}
		return found, os.WriteFile(file, []byte(page), 0o644)
	}
	if old, err := os.ReadFile(file); err != nil || string(old) != page {
		found = append(found, pageFile+" is stale: run 'make contract UPDATE=1'")
	}
	return found, nil
}

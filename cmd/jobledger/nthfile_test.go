package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// nthFile tells a script of one file of a log: nthfile DIR N, from 0. It sets $FILE to its name, $FIRST and $LAST to
// the first and the last record in it, $BEFORE to the record before it, and $NEXT to the first record of the file that
// follows.
func nthFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nthfile DIR N")
	}
	paths, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.db"))
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n+1 >= len(paths) {
		ts.Fatalf("there is no file behind file %d of %d", n, len(paths))
	}
	first := func(path string) int {
		f, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".db"))
		ts.Check(err)
		return f
	}
	ts.Setenv("FILE", filepath.Base(paths[n]))
	for name, value := range map[string]int{
		"FIRST": first(paths[n]), "BEFORE": first(paths[n]) - 1, "LAST": first(paths[n+1]) - 1, "NEXT": first(paths[n+1]),
	} {
		ts.Setenv(name, strconv.Itoa(value))
	}
}

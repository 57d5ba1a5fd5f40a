package historytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// Recorded opens a copy of a recorded log in examples/incidents. It copies the log because opening one may write files
// next to it. The calling test's package must be three directories below the root, like internal/read/history.
func Recorded(t *testing.T, incident string) store.Archive {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "examples", "incidents", incident, "log"))); err != nil {
		t.Fatal(err)
	}
	log, err := open.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // the log was only read, so nothing can be lost
	return log
}

// Keep fails the test if text differs from the content of the file name. If update is set, it writes text to the file
// instead.
func Keep(t *testing.T, update bool, name, text string) {
	t.Helper()
	if update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if text == string(kept) {
		return
	}
	want, got := strings.Split(string(kept), "\n"), strings.Split(text, "\n")
	for i := range want {
		if i >= len(got) || want[i] != got[i] {
			t.Fatalf("line %d of %s is\n%s\nwant\n%s", i+1, name, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d", name, len(got), len(want))
}

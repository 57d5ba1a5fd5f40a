package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// frozenWorld is a repository with golden logs, in which the schema may be frozen.
type frozenWorld struct {
	t    *testing.T
	root string
	repository
}

func newFrozenWorld(t *testing.T) *frozenWorld {
	w := &frozenWorld{t: t, root: t.TempDir()}
	w.dir = filepath.Join(w.root, "cmd", "jobledger") // below the top, as here
	w.write("README", "")
	w.do("-c", "init.defaultBranch=main", "init", "--quiet", w.root)
	return w
}

func (w *frozenWorld) do(args ...string) {
	w.t.Helper()
	if out, err := w.git(args...); err != nil {
		w.t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// write writes a file of the package's golden logs.
func (w *frozenWorld) write(name, content string) {
	w.t.Helper()
	w.file(filepath.Join(w.dir, goldenDir, name), content)
}

func (w *frozenWorld) file(path, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *frozenWorld) commit() {
	w.t.Helper()
	w.do("add", "-A", w.root)
	w.do("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--allow-empty", "-m", "x")
}

// expect says which logs are not as they must be.
func (w *frozenWorld) expect(sentence string, logs ...string) {
	w.t.Helper()
	wrong := w.changed(w.frozenLogs(w.t))
	if len(wrong) != len(logs) {
		w.t.Errorf("%s: %q", sentence, wrong)
		return
	}
	for i, log := range logs {
		if !strings.Contains(wrong[i], log+" is frozen") {
			w.t.Errorf("%s: %q, want %s", sentence, wrong[i], log)
		}
	}
}

// TestFrozenLogsStay: once the schema is frozen, a golden log may neither change nor go, whatever later commits did to
// it. Tags freeze nothing.
func TestFrozenLogsStay(t *testing.T) {
	w := newFrozenWorld(t)
	w.write("first/morning.tgz", "as a program had it that nobody has")
	w.commit()
	w.do("-c", "tag.gpgsign=false", "tag", "v1.0.0-rc.1")
	w.write("first/morning.tgz", "morning")
	w.write("first/morning.txt", "what is said of it")
	w.expect("before the schema is frozen logs are made as it suits")
	w.file(filepath.Join(w.root, "proto", "frozen.binpb"), "schema")
	w.commit()

	w.write("later-2/morning.tgz", "another morning")
	w.write("first/morning.txt", "what is said of it now")
	w.expect("a log that is new, and other words")
	w.commit()
	w.commit()
	w.write("later-2/morning.tgz", "changed")
	w.expect("a later log that is changed", "later-2/morning.tgz")
	w.write("later-2/morning.tgz", "another morning")
	w.write("first/morning.tgz", "changed")
	w.expect("a log that is changed", "first/morning.tgz")
	w.commit()
	w.expect("a log that a commit took over changed", "first/morning.tgz")
	if err := os.Remove(filepath.Join(w.dir, goldenDir, "first", "morning.tgz")); err != nil {
		t.Fatal(err)
	}
	w.expect("a log that is gone", "first/morning.tgz")
	w.commit()
	w.expect("a log that a commit took away", "first/morning.tgz")
	moved := filepath.Join(w.root, "moved")
	if err := os.Rename(w.dir, moved); err != nil {
		t.Fatal(err)
	}
	w.dir = moved
	w.expect("a log that is gone, in a package that was moved", "first/morning.tgz")
	w.write("first/morning.tgz", "morning")
	w.expect("in a package that was moved")
}

// TestWithoutHistory: nothing is frozen.
func TestWithoutHistory(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	if logs := (repository{dir: t.TempDir()}).frozenLogs(t); logs != nil {
		t.Errorf("frozen are %q", logs)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogsOfReleasesStay: from its release on a golden log may neither change nor go, whatever later releases made of it. One that no
// release has may.
func TestLogsOfReleasesStay(t *testing.T) {
	root := t.TempDir()
	repo := repository{dir: filepath.Join(root, "cmd", "jobledger")} // below the top, as here
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(repo.dir, goldenDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		if out, err := repo.git(args...); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	release := func(tag string) {
		t.Helper()
		git("add", "-A", root)
		git("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--allow-empty", "-m", tag)
		git("-c", "tag.gpgsign=false", "tag", tag)
	}
	wrong := func() []string {
		t.Helper()
		return repo.changed(repo.frozenLogs(t, repo.releases(t)))
	}

	write("first/morning.tgz", "as 0.0.1 had it")
	git("-c", "init.defaultBranch=main", "init", "--quiet", root)
	release("v0.0.1")
	write("first/morning.tgz", "morning")
	write("first/morning.txt", "what is said of it")
	if w := wrong(); len(w) > 0 {
		t.Errorf("before 0.1.0 logs are made as it suits: %q", w)
	}
	release("v0.1.0")
	write("after-v0.1.0/morning.tgz", "another morning")
	write("first/morning.txt", "what is said of it now")
	if w := wrong(); len(w) > 0 {
		t.Errorf("a log that is new, and other words: %q", w)
	}
	release("v0.9.0")
	release("v0.10.0")

	write("after-v0.1.0/morning.tgz", "changed")
	if w := wrong(); len(w) != 1 || !strings.Contains(w[0], "after-v0.1.0/morning.tgz is a log of a release") {
		t.Errorf("a log of a later release that is changed: %q", w)
	}
	write("after-v0.1.0/morning.tgz", "another morning")
	write("first/morning.tgz", "changed")
	if w := wrong(); len(w) != 1 || !strings.Contains(w[0], "first/morning.tgz is a log of a release") {
		t.Errorf("a log that is changed: %q", w)
	}
	release("v0.11.0")
	if w := wrong(); len(w) != 1 {
		t.Errorf("a log that a release took over changed: %q", w)
	}
	if err := os.Remove(filepath.Join(repo.dir, goldenDir, "first", "morning.tgz")); err != nil {
		t.Fatal(err)
	}
	if w := wrong(); len(w) != 1 {
		t.Errorf("a log that is gone: %q", w)
	}
	moved := filepath.Join(root, "moved")
	if err := os.Rename(repo.dir, moved); err != nil {
		t.Fatal(err)
	}
	repo.dir = moved
	if w := wrong(); len(w) != 1 {
		t.Errorf("a log that is gone, in a package that was moved: %q", w)
	}
	write("first/morning.tgz", "morning")
	if w := wrong(); len(w) > 0 {
		t.Errorf("in a package that was moved: %q", w)
	}
	if tags := repo.releases(t); strings.Join(tags, " ") != "v0.1.0 v0.9.0 v0.10.0 v0.11.0" {
		t.Errorf("the releases are %q", tags)
	}
}

// TestWithoutHistory: there are no releases, and nothing is frozen.
func TestWithoutHistory(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	if tags := (repository{dir: t.TempDir()}).releases(t); tags != nil {
		t.Errorf("the releases are %q", tags)
	}
}

package pinned

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build builds the program of a commit, and returns its path. If the commit is not in the local history, Build fails
// the test in CI and skips it elsewhere.
func Build(t *testing.T, commit string) string {
	t.Helper()
	source, ok := checkedOut(commit)
	if !ok {
		archive, err := sourceOf(commit)
		if err != nil {
			missing(t, "commit %s is not in the history here: %v", commit, err)
		}
		source = t.TempDir()
		unpack(t, archive, source)
	}
	program := filepath.Join(t.TempDir(), "jobledger")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./cmd/jobledger")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build commit %s: %v\n%s", commit, err, out)
	}
	return program
}

// First returns the oldest commit whose logs are still read: the one that froze the schema (proto/frozen.binpb). Until
// the schema is frozen, it returns the newest commit. It fails or skips the test as Build does.
func First(t *testing.T) string {
	t.Helper()
	found, err := git("log", "--format=%H", "--diff-filter=A", "--", "proto/frozen.binpb")
	if all := strings.Fields(string(found)); err == nil && len(all) > 0 {
		return all[len(all)-1]
	}
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		missing(t, "there is no history: %v", err)
	}
	return strings.TrimSpace(string(head))
}

// FirstWith returns the first commit, from First on, in which file contains line. The path of file starts at the root
// of the repository. It fails or skips the test as Build does.
func FirstWith(t *testing.T, line, file string) string {
	t.Helper()
	first := First(t)
	if content, err := git("show", first+":"+file); err == nil && strings.Contains(string(content), line) {
		return first
	}
	return oldest(t, line, file, first+"..HEAD")
}

// oldest returns the oldest of the commits that changed how often line occurs in file. commits is a range of git.
func oldest(t *testing.T, line, file, commits string) string {
	t.Helper()
	found, err := git("log", "--format=%H", "-S"+line, commits, "--", file)
	all := strings.Fields(string(found))
	if err != nil || len(all) == 0 {
		missing(t, "no commit has %q in %s: %v", line, file, err)
	}
	return all[len(all)-1]
}

// missing is called if the git history lacks a commit, so that the test cannot build it. It fails the test in CI, and
// skips it elsewhere.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format+" (fetch all of the history: fetch-depth: 0)", args...)
	}
	t.Skipf(format, args...)
}

// checkedOut returns the root of the repository if its files are exactly those of the commit; ok is false otherwise.
// A build there is fast, because it uses the build cache.
func checkedOut(commit string) (root string, ok bool) {
	head, err := git("rev-parse", "HEAD")
	if err != nil || strings.TrimSpace(string(head)) != commit {
		return "", false
	}
	if changed, err := git("status", "--porcelain"); err != nil || len(changed) > 0 {
		return "", false
	}
	found, err := git("rev-parse", "--show-toplevel")
	return strings.TrimSpace(string(found)), err == nil
}

// sourceOf returns the files of a commit as a tar archive.
func sourceOf(commit string) ([]byte, error) { return git("archive", "--format=tar", commit) }

// git runs a git command at the root of the repository, so that archive includes all files.
func git(args ...string) ([]byte, error) {
	const foreign = "safe.directory=*" // git must also accept a repository that belongs to another user
	root, err := exec.Command("git", "-c", foreign, "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, err
	}
	return exec.Command("git", append([]string{"-c", foreign, "-C", string(bytes.TrimSpace(root))}, args...)...).Output()
}

func unpack(t *testing.T, archive []byte, dir string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Clean("/"+h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, content, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

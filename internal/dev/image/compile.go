package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// commit is the commit from which the image is built.
type commit struct {
	hash     string
	time     time.Time
	describe string   // output of git describe
	changes  []string // files of the work tree that are changed or untracked
}

func (c *commit) dirty() bool { return len(c.changes) > 0 }

func headOf(source string) (commit, error) {
	var c commit
	for args, set := range map[string]func(string) error{
		"rev-parse HEAD":                           func(s string) error { c.hash = s; return nil },
		"log -1 --format=%cI":                      func(s string) (err error) { c.time, err = time.Parse(time.RFC3339, s); return err },
		"describe --always --tags":                 func(s string) error { c.describe = s; return nil },
		"status --porcelain --untracked-files=all": func(s string) error { c.changes = append(c.changes, lines(s)...); return nil },
		// Files that git ignores count as changes, too, because the compiler uses them.
		"ls-files --others --ignored --exclude-standard -- *.go *.s": func(s string) error {
			c.changes = append(c.changes, lines(s)...)
			return nil
		},
	} {
		out, err := output(source, nil, "git", strings.Fields(args)...)
		if err != nil {
			return commit{}, fmt.Errorf("%s is built from a commit: %w", source, err)
		}
		if err := set(strings.TrimSpace(string(out))); err != nil {
			return commit{}, fmt.Errorf("git %s: %w", args, err)
		}
	}
	slices.Sort(c.changes)
	if c.dirty() {
		c.describe += "-dirty"
	}
	return c, nil
}

func lines(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// releaseVersion matches the version of a release, without a suffix.
var releaseVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+(\.[0-9]+)?$`)

// releasable returns an error if the version is that of a release and the work tree differs from the commit, because
// then nobody could build the same bytes again.
func (r release) releasable() error {
	if !r.commit.dirty() || !releaseVersion.MatchString(r.version) {
		return nil
	}
	some := r.commit.changes[:min(5, len(r.commit.changes))]
	return fmt.Errorf("%s is a release, and the work tree has %d changes that no commit has (%s): commit or remove them, or give a version such as %s-dev",
		r.version, len(r.commit.changes), strings.Join(some, ", "), r.version)
}

// program is the compiled program for one platform.
type program struct {
	arch  string
	bytes []byte
	info  *buildinfo.BuildInfo // the modules in the program, as the linker recorded them
	terms []terms              // the licences of these modules
}

// compile builds the program as a static file without paths of this machine.
func compile(source, platform string, r release) (program, error) {
	dir, err := os.MkdirTemp("", "jobledger-image-")
	if err != nil {
		return program{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // an error only leaves temporary files behind
	osName, arch, _ := strings.Cut(platform, "/")
	file := filepath.Join(dir, "jobledger")
	env := []string{"CGO_ENABLED=0", "GOOS=" + osName, "GOARCH=" + arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=", "GOWORK=off"}
	_, err = output(source, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -X github.com/jobledger/jobledger/cmd/cli.version="+r.version, "-o", file, "./cmd/jobledger")
	if err != nil {
		return program{}, err
	}
	p := program{arch: arch}
	if p.bytes, err = os.ReadFile(file); err != nil {
		return program{}, err
	}
	if p.info, err = buildinfo.Read(bytes.NewReader(p.bytes)); err != nil {
		return program{}, err
	}
	p.terms, err = termsOf(source, r.goVersion, p.info.Deps)
	return p, err
}

// output runs a program in dir, and returns its standard output. If it fails, the error has its standard error.
func output(dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out, nil
}

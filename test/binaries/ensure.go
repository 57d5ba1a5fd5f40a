package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Config says which programs to build, and where to put them. With the zero value, the source is the repository that
// contains the working directory, the programs go into its bin/controlplane, and progress goes to standard error.
type Config struct {
	// Root is the root of the repository; empty: FindRoot.
	Root string
	// Dir receives the programs; empty: bin/controlplane under Root.
	Dir string
	// Programs are the names of the programs; empty: those of Cluster.
	Programs []string
	// Minor is an older minor version of Kubernetes, one of Minors. Programs that exist in that version are taken from
	// it. Empty: all programs have the version of test/tools.
	Minor string
	// Progress receives lines about the build: what is being built, and how long it may take; nil: standard error.
	// Nothing is written if nothing has to be built.
	Progress io.Writer
}

func (c *Config) setDefaults() error {
	if c.Root == "" {
		root, err := FindRoot()
		if err != nil {
			return err
		}
		c.Root = root
	}
	if c.Dir == "" {
		c.Dir = filepath.Join(c.Root, "bin", "controlplane")
	}
	if c.Progress == nil {
		c.Progress = os.Stderr
	}
	if len(c.Programs) == 0 {
		c.Programs = Cluster
	}
	if c.Minor != "" && !slices.Contains(Minors, c.Minor) {
		return fmt.Errorf("version %s of Kubernetes is not built here, only %v and that of test/tools", c.Minor, Minors)
	}
	return nil
}

// Set is a directory with programs that are up to date.
type Set struct {
	dir      string
	minor    string // the older minor version of Kubernetes; see Config.Minor
	versions map[origin]string
}

// Path returns the path of a program.
func (s Set) Path(name string) string {
	if p, ok := find(name, s.minor); ok {
		name = p.file()
	}
	return filepath.Join(s.dir, name)
}

// Version returns the version of a program's module, such as v1.37.2; empty for an unknown name.
func (s Set) Version(name string) string {
	p, ok := find(name, s.minor)
	if !ok {
		return ""
	}
	return s.versions[p.origin()]
}

// Ensure builds the requested programs that are missing or have another version, and returns when all of them are up to
// date. If nothing has to be built, it only reads a few small files. When ctx ends, it stops the build and returns
// ctx's error; programs that are finished by then stay.
func Ensure(ctx context.Context, c Config) (Set, error) {
	if err := c.setDefaults(); err != nil {
		return Set{}, err
	}
	toolsDir := filepath.Join(c.Root, filepath.Dir(filepath.FromSlash(toolsMarker)))
	want, err := versions(toolsDir)
	if err != nil {
		return Set{}, err
	}
	set := Set{dir: c.Dir, minor: c.Minor, versions: want}
	if len(stale(set, c.Programs)) == 0 {
		return set, nil
	}

	if err := os.MkdirAll(filepath.Join(c.Dir, stampDir), 0o755); err != nil {
		return Set{}, fmt.Errorf("make the directory of the control plane's programs: %w", err)
	}
	lock, err := acquire(ctx, filepath.Join(c.Dir, stampDir, "lock"), c.Progress)
	if err != nil {
		return Set{}, err
	}
	defer lock.release()

	todo := stale(set, c.Programs) // another process may have built them while it had the lock
	if len(todo) == 0 {
		return set, nil
	}
	var cold time.Duration
	for _, p := range todo {
		cold += p.cold
	}
	fmt.Fprintf(c.Progress, "Building programs of Kubernetes into %s: %d programs, once. With nothing in the Go build cache this takes about %s on two idle cores.\n",
		c.Dir, len(todo), cold)
	var so pace
	for i, p := range todo {
		began, expected := time.Now(), so.estimate(p.cold)
		b := build{program: p, version: want[p.origin()], toolsDir: filepath.Join(toolsDir, p.tools), dir: c.Dir}
		prefix := fmt.Sprintf("[%d/%d] %s %s", i+1, len(todo), p.label(), b.version)
		if err := b.run(ctx, newProgress(c.Progress, prefix, expected)); err != nil {
			return Set{}, fmt.Errorf("build %s %s: %w", p.label(), b.version, err)
		}
		so = pace{so.took + time.Since(began), so.cold + p.cold}
	}
	return set, nil
}

// stampDir is a directory beside the programs. It has a stamp for each program (a file that says how the program was
// built), and the lock.
const stampDir = ".controlplane"

func stampPath(dir, name string) string { return filepath.Join(dir, stampDir, name+".stamp") }

// stale returns the programs among needed that must be built.
func stale(s Set, needed []string) []program {
	var out []program
	for _, p := range programs {
		wanted, _ := find(p.name, s.minor)
		if p.file() == wanted.file() && slices.Contains(needed, p.name) && !current(s, p) {
			out = append(out, p)
		}
	}
	return out
}

func current(s Set, p program) bool {
	if _, err := os.Stat(filepath.Join(s.dir, p.file())); err != nil {
		return false
	}
	got, err := os.ReadFile(stampPath(s.dir, p.label()))
	if err != nil {
		return false
	}
	return string(got) == p.stamp(s.versions[p.origin()])
}

var errLocked = errors.New("locked by another process")

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Kinds of what may have the name of a file of a log, and is none that the program wrote.
func pipe(path string) error     { return syscall.Mkfifo(path, 0o600) }
func dangling(path string) error { return os.Symlink(path+".elsewhere", path) }

// subdirectory has something in it, so that it cannot be removed like a file.
func subdirectory(path string) error { return os.MkdirAll(filepath.Join(path, "in it"), 0o700) }

// sparse is 3 GB that take no room.
func sparse(path string) error {
	return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 3<<30))
}

// oddBeside is a file that has the name of one of the log's, and is none of it.
func oddBeside(makes func(path string) error) func(*patient) {
	return func(p *patient) { p.must(makes(filepath.Join(p.dir, fmt.Sprintf("%020d.db", firstOf(p.plain())+3)))) }
}

// oddInstead is in the place of a file of the log.
func oddInstead(file func(*patient) string, makes func(path string) error) func(*patient) {
	return func(p *patient) {
		path := file(p)
		p.remove(path)
		p.must(makes(path))
	}
}

// oddSideFiles are in the places of files beside the log, or one where none was.
func oddSideFiles(pattern string, makes func(path string) error) func(*patient) {
	return func(p *patient) {
		paths, err := filepath.Glob(filepath.Join(p.dir, pattern))
		p.must(err)
		if len(paths) == 0 && !strings.Contains(pattern, "*") {
			paths = []string{filepath.Join(p.dir, pattern)}
		}
		if len(paths) == 0 {
			p.t.Fatalf("there is no %s", pattern)
		}
		for _, path := range paths {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				p.t.Fatal(err)
			}
			p.must(makes(path))
		}
	}
}

// linked moves a file of the log elsewhere, and leaves a link to it.
func linked(path string) error {
	there := filepath.Join(filepath.Dir(path), "..", filepath.Base(path))
	if err := os.Rename(path, there); err != nil {
		return err
	}
	return os.Symlink(there, path)
}

func linkInstead(p *patient) {
	path := p.plain()
	p.hurt = filepath.Base(path)
	p.must(linked(path))
}

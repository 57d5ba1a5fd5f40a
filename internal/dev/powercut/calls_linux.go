//go:build linux && (amd64 || arm64)

package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const standardOutput = 1

// begins records a system call that is about to run on an open file: a write, a sync or a change of size. Calls that
// create, rename or delete a name are recorded by ends, when they have returned.
func (r *Recorder) begins(tid int, c *call) error {
	fd, of := r.opened(c)
	switch c.number {
	case unix.SYS_WRITE:
		if fd == standardOutput {
			data, err := memory(tid, c.args[1], c.args[2])
			r.step(c, Step{Kind: Say, Data: data})
			return err
		}
		if of == nil {
			return nil
		}
		at, err := r.place(tid, fd, of.file)
		if err != nil {
			return err
		}
		return r.write(tid, c, of, at)
	case unix.SYS_PWRITE64:
		if of != nil {
			return r.write(tid, c, of, int64(c.args[3]))
		}
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		if of != nil {
			r.step(c, Step{Kind: Sync, Name: r.nameOf(of), File: of.file})
		}
	case unix.SYS_FTRUNCATE:
		if of != nil {
			r.step(c, Step{Kind: Truncate, Name: r.nameOf(of), File: of.file, Size: int64(c.args[1])})
		}
	case unix.SYS_FALLOCATE:
		if of == nil {
			return nil
		}
		if c.args[1] != 0 {
			return fmt.Errorf("fallocate %s with mode %#x is not understood", r.nameOf(of), c.args[1])
		}
		r.step(c, Step{Kind: Allocate, Name: r.nameOf(of), File: of.file, At: int64(c.args[2]), Size: int64(c.args[3])})
	case unix.SYS_CLOSE:
		delete(r.open, fd) // the descriptor no longer means this file, and may be given to another one
	case unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SENDFILE, unix.SYS_DUP, unix.SYS_DUP3:
		if of != nil {
			return fmt.Errorf("a call on %s that is not understood", r.nameOf(of))
		}
	case unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE:
		if to, ok := r.open[int(int32(c.args[2]))]; ok {
			return fmt.Errorf("a call on %s that is not understood", r.nameOf(&to))
		}
	case unix.SYS_MMAP:
		if to, ok := r.open[int(int32(c.args[4]))]; ok && c.args[2]&unix.PROT_WRITE != 0 && c.args[3]&unix.MAP_SHARED != 0 {
			return fmt.Errorf("%s is mapped to be written, which is not understood", r.nameOf(&to))
		}
	}
	return nil
}

// opened returns the file that is the call's first argument (a descriptor); nil if it is not in the recorded directory.
func (r *Recorder) opened(c *call) (fd int, of *opened) {
	fd = int(int32(c.args[0]))
	if o, ok := r.open[fd]; ok {
		of = &o
	}
	return fd, of
}

func (r *Recorder) step(c *call, s Step) {
	c.step, s.Ended = len(r.trace.Steps), Never
	r.trace.Steps = append(r.trace.Steps, s)
}

func (r *Recorder) write(tid int, c *call, of *opened, at int64) error {
	data, err := memory(tid, c.args[1], c.args[2])
	r.step(c, Step{Kind: Write, Name: r.nameOf(of), File: of.file, At: at, Data: data})
	return err
}

// nameOf returns the current name of a file; if it has none any more, the name under which it was opened.
func (r *Recorder) nameOf(of *opened) string {
	for name, id := range r.names {
		if id == of.file {
			return name
		}
	}
	return of.name
}

// place returns the position of an open file: the offset at which the next plain write begins.
func (r *Recorder) place(tid, fd, file int) (int64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", tid, fd))
	if err != nil {
		return 0, err
	}
	at, flags := int64(-1), int64(0)
	for line := range strings.Lines(string(content)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); key {
		case "pos":
			at, err = strconv.ParseInt(value, 10, 64)
		case "flags":
			flags, err = strconv.ParseInt(value, 8, 64)
		}
		if err != nil {
			return 0, err
		}
	}
	if at < 0 || flags&unix.O_APPEND != 0 {
		return 0, fmt.Errorf("a write to the end of file %d is not understood", file)
	}
	return at, nil
}

// ends handles a system call that has returned. It records when the call ended, and calls that change names.
func (r *Recorder) ends(tid int, c *call, result int64) error {
	if c.step >= 0 {
		s := &r.trace.Steps[c.step]
		switch {
		case result < 0 && s.Kind == Allocate:
			// A failed fallocate (interrupted, or not supported) has changed nothing.
			s.At, s.Size = 0, 0
		case result < 0 && s.Kind == Sync:
			return nil // leave Ended unset: a sync that failed makes nothing durable
		case result < 0:
			return fmt.Errorf("%v: %w: what came of it is not known", s, unix.Errno(-result))
		}
		if s.Ended = len(r.trace.Steps); s.Kind == Write {
			s.Data = s.Data[:result]
		}
		return nil
	}
	if result < 0 {
		return nil
	}
	switch c.number {
	case unix.SYS_OPENAT:
		return r.opens(tid, c, int(result))
	case unix.SYS_MKDIRAT:
		return r.named(tid, c.args[0], c.args[1], func(name string) error {
			r.names[name] = r.identity()
			r.done(Step{Kind: Mkdir, Name: name, File: r.names[name]})
			return nil
		})
	case unix.SYS_UNLINKAT:
		return r.named(tid, c.args[0], c.args[1], func(name string) error {
			r.done(Step{Kind: Unlink, Name: name, File: r.names[name]})
			delete(r.names, name)
			return nil
		})
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		if c.number == unix.SYS_RENAMEAT2 && c.args[4] != 0 {
			return errors.New("a rename with flags is not understood")
		}
		return r.named(tid, c.args[0], c.args[1], func(from string) error {
			return r.named(tid, c.args[2], c.args[3], func(to string) error { return r.renamed(from, to) })
		})
	case unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_TRUNCATE:
		path, at := c.args[3], c.args[2]
		if c.number == unix.SYS_SYMLINKAT {
			path, at = c.args[2], c.args[1]
		}
		if c.number == unix.SYS_TRUNCATE {
			path, at = c.args[0], atWorkingDirectory
		}
		return r.named(tid, at, path, func(name string) error { return fmt.Errorf("a call on %s that is not understood", name) })
	}
	return nil
}

// atWorkingDirectory is AT_FDCWD as an argument of a call: paths are relative to the working directory.
const atWorkingDirectory = uint64(0xffffffffffffff9c)

func (r *Recorder) done(s Step) {
	s.Ended = len(r.trace.Steps) + 1
	r.trace.Steps = append(r.trace.Steps, s)
}

func (r *Recorder) opens(tid int, c *call, fd int) error {
	delete(r.open, fd)
	return r.named(tid, c.args[0], c.args[1], func(name string) error {
		id, there := r.names[name]
		if !there {
			if c.args[2]&unix.O_CREAT == 0 {
				return fmt.Errorf("the process opens %s, which no recorded call made", name)
			}
			id = r.identity()
			r.names[name] = id
			r.done(Step{Kind: Create, Name: name, File: id})
		} else if c.args[2]&unix.O_TRUNC != 0 {
			r.done(Step{Kind: Truncate, Name: name, File: id})
		}
		r.open[fd] = opened{file: id, name: name}
		return nil
	})
}

func (r *Recorder) renamed(from, to string) error {
	id, there := r.names[from]
	if !there || filepath.Dir(from) != filepath.Dir(to) {
		return fmt.Errorf("rename %s to %s is not understood", from, to)
	}
	delete(r.names, from)
	r.names[to] = id
	r.done(Step{Kind: Rename, Name: from, To: to, File: id})
	return nil
}

// named calls fn with the name of a file, if its path is below the recorded directory; the name is relative to that
// directory. at is the descriptor of the directory from which the path starts, and path the address of the path in the
// process's memory.
func (r *Recorder) named(tid int, at, path uint64, fn func(name string) error) error {
	text, err := pathAt(tid, path)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(text) {
		if _, ours := r.open[int(int32(at))]; ours {
			return fmt.Errorf("a call on %s below a directory that is open is not understood", text)
		}
		return nil // the path is outside the recorded directory, because it is relative to the working directory
	}
	name, err := filepath.Rel(r.root, text)
	if err != nil || name == ".." || strings.HasPrefix(name, "../") {
		return nil //nolint:nilerr // the path is elsewhere
	}
	return fn(filepath.ToSlash(name))
}

// pathAt returns the path that stands at an address of the process's memory. It reads page by page and stops at the
// end of the path, because the page after it may not be mapped.
func pathAt(tid int, at uint64) (string, error) {
	var text []byte
	for range 2 {
		part, err := memory(tid, at, page-at%page)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(text, part[:end]...)), nil
		}
		text, at = append(text, part...), at+uint64(len(part))
	}
	return "", errors.New("a path without end")
}

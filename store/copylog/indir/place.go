package indir

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/regular"
)

// lockName is the name of a file in the directory that is not an object of the copy. A process must hold its flock to
// rename a file in the directory.
const lockName = ".lock"

// Place is a directory with the objects of a copy of a log. Use New to create one.
type Place struct{ root string }

var _ copylog.Place = Place{}

// New returns the place in directory root. The directory is created by the first write.
func New(root string) Place { return Place{root: filepath.Clean(root)} }

func (p Place) String() string { return p.root }

func (p Place) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

// Get implements copylog.Place: it opens an object's file. For MANIFEST it returns the content with the tag of this
// version.
func (p Place) Get(_ context.Context, name string) (copylog.Opened, error) {
	f, err := regular.Open(p.path(name))
	if err != nil {
		return copylog.Opened{}, err
	}
	o := copylog.Opened{ReadCloser: f}
	// Read MANIFEST now, because it may be replaced while the caller reads it. Other objects never change.
	if name == copylog.ManifestName {
		content, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return copylog.Opened{}, err
		}
		o = copylog.Opened{ReadCloser: io.NopCloser(bytes.NewReader(content)), Tag: tag(content)}
	}
	return o, nil
}

func tag(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Range implements copylog.Place: it returns n bytes of an object's file from byte `from` on.
func (p Place) Range(_ context.Context, name string, from, n int64) (part []byte, err error) {
	f, err := regular.Open(p.path(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.NewSectionReader(f, from, n))
}

// Written returns when an object was written, by the clock of the file system.
func (p Place) Written(_ context.Context, name string) (time.Time, error) {
	info, err := os.Lstat(p.path(name))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// Size implements copylog.Place: it returns the size of an object's file.
func (p Place) Size(_ context.Context, name string) (int64, error) {
	if err := regular.Check(p.path(name)); err != nil {
		return 0, err
	}
	info, err := os.Lstat(p.path(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Put implements copylog.Place: it writes a temporary file, and links it to the object's name.
func (p Place) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	path := p.path(name)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, copylog.ErrExists)
	}
	temp, err := p.write(ctx, path, io.NewSectionReader(content, 0, size))
	if err != nil {
		return err
	}
	err = p.link(temp, path)
	if gone := os.Remove(temp); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", path, copylog.ErrExists)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// link gives the temporary file its name. If a file with this name exists, it returns fs.ErrExist. If the file system
// has no hard links, it takes the lock and renames the file.
func (p Place) link(temp, path string) error {
	err := os.Link(temp, path)
	if !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.ENOSYS) {
		return err
	}
	unlock, err := lock(p.path(lockName))
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	return os.Rename(temp, path)
}

// Replace implements copylog.Place: it takes the lock, checks the tag (ID of a version) of the current file, and
// renames a new file to its name. `of` is the tag of the version to replace.
func (p Place) Replace(ctx context.Context, name string, content []byte, of string) (string, error) {
	if err := os.MkdirAll(p.root, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(p.path(lockName))
	if err != nil {
		return "", err
	}
	defer unlock()
	path := p.path(name)
	now := ""
	old, err := regular.Read(path, copylog.MostManifest)
	switch {
	case err == nil:
		now = tag(old)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if now != of {
		return "", fmt.Errorf("%s: %w", path, copylog.ErrChanged)
	}
	temp, err := p.write(ctx, path, bytes.NewReader(content))
	if err != nil {
		return "", err
	}
	if err := os.Rename(temp, path); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	return tag(content), syncDir(filepath.Dir(path))
}

// Delete implements copylog.Place: it removes an object's file.
func (p Place) Delete(_ context.Context, name string) error {
	if err := os.Remove(p.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write writes content to a new temporary file beside path, syncs it to the disk, and returns the name of that file.
func (p Place) write(ctx context.Context, path string, content io.Reader) (temp string, err error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never returns an error
	temp = path + tempMark + hex.EncodeToString(random[:])
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, reading{ctx, content}, make([]byte, 1<<20))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	return temp, nil
}

// reading is a reader whose Read fails once ctx has ended.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

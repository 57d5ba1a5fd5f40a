package copylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Unfenced wraps a place whose server cannot make a write depend on the present version. It reads the object before
// each write instead. Two processes that write at the same moment can still overwrite each other's objects.
type Unfenced struct{ Place }

// Put implements Place: it creates an object, if a read finds that there is none.
func (u Unfenced) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	_, err := u.Size(ctx, name)
	if err == nil {
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return u.Place.Put(ctx, name, content, size)
}

// Replace implements Place: it overwrites the object, if a read finds that its version has the tag.
func (u Unfenced) Replace(ctx context.Context, name string, content []byte, tag string) (string, error) {
	_, now, err := ReadAll(ctx, u.Place, name, MostManifest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if now != tag {
		return "", fmt.Errorf("%s: %w", name, ErrChanged)
	}
	if now, err = u.Place.Replace(ctx, name, content, tag); now != "" || err != nil {
		return now, err
	}
	// The server gave no tag for the new version. So read the object to learn its tag, and check that nobody else
	// wrote.
	is, now, err := ReadAll(ctx, u.Place, name, MostManifest)
	if err == nil && !bytes.Equal(is, content) {
		err = fmt.Errorf("%s: %w", name, ErrChanged)
	}
	return now, err
}

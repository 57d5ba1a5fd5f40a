package copying

import (
	"context"
	"io"
	"time"

	"github.com/jobledger/jobledger/store/copylog"
)

// timely adds a time limit to each call of a copylog.Place (a directory or bucket for the copy), so that a server that
// does not answer counts as failed.
type timely struct{ copylog.Place }

const (
	answer = 30 * time.Second // time limit of a call with little content
	slow   = 64 << 10         // least bytes per second: a call with 256 MiB may take 30 s + 4096 s
)

func within(ctx context.Context, bytes int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, answer+time.Duration(bytes/slow)*time.Second)
}

// Get implements copylog.Place. Its time limit allows for an object of 256 MiB, the size of a sealed file.
func (t timely) Get(ctx context.Context, name string) (copylog.Opened, error) {
	ctx, cancel := within(ctx, 256<<20)
	o, err := t.Place.Get(ctx, name)
	if err != nil {
		cancel()
		return o, err
	}
	o.ReadCloser = closing{o.ReadCloser, cancel}
	return o, nil
}

type closing struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the object that is read, and ends the time limit of the call.
func (c closing) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// Range implements copylog.Place: it reads a part of an object; the time limit grows with n, the bytes to read.
func (t timely) Range(ctx context.Context, name string, from, n int64) ([]byte, error) {
	ctx, cancel := within(ctx, n)
	defer cancel()
	return t.Place.Range(ctx, name, from, n)
}

// Size implements copylog.Place: it returns the size of an object, within 30 seconds.
func (t timely) Size(ctx context.Context, name string) (int64, error) {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	return t.Place.Size(ctx, name)
}

// Put implements copylog.Place: it writes an object; the time limit grows with its size.
func (t timely) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	ctx, cancel := within(ctx, size)
	defer cancel()
	return t.Place.Put(ctx, name, content, size)
}

// Replace implements copylog.Place: it replaces an object that still has the version tag; the time limit grows with the
// size.
func (t timely) Replace(ctx context.Context, name string, content []byte, tag string) (string, error) {
	ctx, cancel := within(ctx, int64(len(content)))
	defer cancel()
	return t.Place.Replace(ctx, name, content, tag)
}

// Tidy implements copylog.Tidier: it passes the call on if the place has this method, and otherwise does nothing.
func (t timely) Tidy(ctx context.Context, before time.Time) error {
	if place, is := t.Place.(copylog.Tidier); is {
		return place.Tidy(ctx, before)
	}
	return nil
}

// Delete implements copylog.Place: it deletes an object, within 30 seconds.
func (t timely) Delete(ctx context.Context, name string) error {
	ctx, cancel := within(ctx, 0)
	defer cancel()
	return t.Place.Delete(ctx, name)
}

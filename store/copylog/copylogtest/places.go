package copylogtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/copylog/ins3"
)

// Places has a function for each kind of place (store for a copy of a log), by name. Each call creates an empty one.
var Places = map[string]func(t testing.TB) copylog.Place{
	"in a directory": func(t testing.TB) copylog.Place { return indir.New(filepath.Join(t.TempDir(), "copy")) },
	"in a bucket":    func(t testing.TB) copylog.Place { return Bucket(t) },
}

// Bucket returns a place (store for a copy of a log) in a bucket of a new S3 server, which stops at the end of the
// test.
func Bucket(t testing.TB) copylog.Place {
	t.Helper()
	url := Server(t, "backups")
	p, err := ins3.New("s3://backups/jobledger/one?endpoint="+url, Keys)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Server returns the URL of a new S3 server that has this bucket. The server stops at the end of the test.
func Server(t testing.TB, bucket string) string {
	t.Helper()
	return serverOf(t, bucket, nil)
}

// Unfenced returns the URL of a new S3 server that has this bucket, but no conditional writes. The server stops at the
// end of the test.
func Unfenced(t testing.TB, bucket string) string {
	t.Helper()
	return serverOf(t, bucket, func(r *http.Request) {
		r.Header.Del("If-Match")
		r.Header.Del("If-None-Match")
	})
}

// serverOf returns the URL of a new S3 server. change, unless nil, may edit each request before the server sees it.
func serverOf(t testing.TB, bucket string, change func(*http.Request)) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change != nil {
			change(r)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Keys returns the value of an environment variable: the credentials for a test server.
func Keys(name string) string {
	return map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}[name]
}

// ErrBroken is the error of the calls of Failing and Flaky that fail.
var ErrBroken = errors.New("the place is broken")

// Failing is a place in which the call with number At fails with ErrBroken: before it does anything or, if After is
// set, once it is done. All later calls fail before they do anything, as after the death of the process. Only calls of
// Get, Put, Replace and Delete count.
type Failing struct {
	copylog.Place
	At    int // number of the call, from 1; 0 for no failure
	After bool

	mu    sync.Mutex
	calls int
}

// Calls returns the number of calls of Get, Put, Replace and Delete so far.
func (f *Failing) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// fails counts a call, and reports how it fails: before it does anything, or after it is done; both false if it
// succeeds.
func (f *Failing) fails() (before, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	switch {
	case f.At == 0 || f.calls < f.At:
		return false, false
	case f.calls == f.At && f.After:
		return false, true
	}
	return true, false
}

func (f *Failing) do(call func() error) error {
	before, after := f.fails()
	if before {
		return ErrBroken
	}
	if err := call(); err != nil {
		return err
	}
	if after {
		return ErrBroken
	}
	return nil
}

// Get implements copylog.Place: it opens an object. If it fails because of At, it returns ErrBroken. But call number At
// with After set opens the object, and reading it fails with ErrBroken after 100 bytes.
func (f *Failing) Get(ctx context.Context, name string) (o copylog.Opened, err error) {
	before, after := f.fails()
	if before {
		return o, ErrBroken
	}
	o, err = f.Place.Get(ctx, name)
	if err == nil && after {
		o.ReadCloser = &cut{ReadCloser: o.ReadCloser, left: 100}
	}
	return o, err
}

// cut is a reader that returns only the first `left` bytes, and then an error.
type cut struct {
	io.ReadCloser
	left int
}

func (c *cut) Read(b []byte) (int, error) {
	if c.left == 0 {
		return 0, ErrBroken
	}
	n, err := c.ReadCloser.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// Put implements copylog.Place: it creates an object. If it fails because of At, it returns ErrBroken; the object is
// then created only if this is call number At and After is set.
func (f *Failing) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	return f.do(func() error { return f.Place.Put(ctx, name, content, size) })
}

// Replace implements copylog.Place: it overwrites the version of an object that has this tag, and returns the tag of
// the new version. If it fails because of At, it returns ErrBroken; the object is then overwritten only if this is call
// number At and After is set.
func (f *Failing) Replace(ctx context.Context, name string, content []byte, tag string) (now string, err error) {
	err = f.do(func() error { now, err = f.Place.Replace(ctx, name, content, tag); return err })
	return now, err
}

// Delete implements copylog.Place: it deletes an object. If it fails because of At, it returns ErrBroken; the object is
// then deleted only if this is call number At and After is set.
func (f *Failing) Delete(ctx context.Context, name string) error {
	return f.do(func() error { return f.Place.Delete(ctx, name) })
}

package copylogtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/jobledger/jobledger/store/copylog"
)

// Flaky is a place (store for a copy of a log) in which calls fail at random: before they do anything, after they are
// done, or in the middle of an answer. With the same seed, the same calls fail. Use NewFlaky to create one.
type Flaky struct {
	copylog.Place

	mu     sync.Mutex
	random *rand.Rand
	share  float64
	failed int
}

// NewFlaky returns a place that passes calls to p, and lets them fail with probability share. The same seed lets the
// same calls fail.
func NewFlaky(p copylog.Place, seed uint64, share float64) *Flaky {
	return &Flaky{Place: p, random: rand.New(rand.NewPCG(seed, 1)), share: share}
}

// Failed returns the number of failed calls.
func (f *Flaky) Failed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// SetShare changes the probability that a call fails.
func (f *Flaky) SetShare(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.share = share
}

// draw decides at random how a call fails: before it does anything, or after it is done. cutAt is the number of bytes
// after which Get cuts off an answer; all are zero if the call succeeds.
func (f *Flaky) draw() (before, after bool, cutAt int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind, cutAt := f.random.IntN(2), f.random.IntN(2000)
	if f.random.Float64() >= f.share {
		return false, false, 0
	}
	f.failed++
	return kind == 0, kind == 1, cutAt
}

var errUnavailable = fmt.Errorf("503 Slow Down: %w", ErrBroken)

func (f *Flaky) do(call func() error) error {
	before, after, _ := f.draw()
	if before {
		return errUnavailable
	}
	err := call()
	if after {
		return errUnavailable // the call was carried out, but the caller gets an error as if the answer had been lost
	}
	return err
}

// Get implements copylog.Place: it opens an object, fails, or cuts the object off after some bytes.
func (f *Flaky) Get(ctx context.Context, name string) (o copylog.Opened, err error) {
	before, after, cutAt := f.draw()
	if before {
		return o, errUnavailable
	}
	if o, err = f.Place.Get(ctx, name); err == nil && after {
		o.ReadCloser = &cut{ReadCloser: o.ReadCloser, left: cutAt}
	}
	return o, err
}

// Range implements copylog.Place: it reads a part of an object, or fails.
func (f *Flaky) Range(ctx context.Context, name string, from, n int64) (part []byte, err error) {
	err = f.do(func() error { part, err = f.Place.Range(ctx, name, from, n); return err })
	return part, err
}

// Size implements copylog.Place: it returns the size of an object, or fails.
func (f *Flaky) Size(ctx context.Context, name string) (size int64, err error) {
	err = f.do(func() error { size, err = f.Place.Size(ctx, name); return err })
	return size, err
}

// Put implements copylog.Place: it creates an object, or fails, possibly after the object was created.
func (f *Flaky) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	return f.do(func() error { return f.Place.Put(ctx, name, content, size) })
}

// Replace implements copylog.Place: it overwrites an object, or fails, possibly after the object was overwritten.
func (f *Flaky) Replace(ctx context.Context, name string, content []byte, tag string) (now string, err error) {
	err = f.do(func() error { now, err = f.Place.Replace(ctx, name, content, tag); return err })
	return now, err
}

// Delete implements copylog.Place: it deletes an object, or fails, possibly after the object was deleted.
func (f *Flaky) Delete(ctx context.Context, name string) error {
	return f.do(func() error { return f.Place.Delete(ctx, name) })
}

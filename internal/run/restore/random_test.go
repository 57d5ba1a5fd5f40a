package restore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/copylog/indir"
)

// random is a place that fails at random, and the same place without failures.
type random struct {
	place, well copylog.Place
	setShare    func(float64)
	settle      func()                // waits for requests that nothing waits for any more
	failed      func() map[string]int // by kind
}

var randoms = map[string]func(t *testing.T, seed uint64) random{
	"in a directory": func(t *testing.T, seed uint64) random {
		place := indir.New(filepath.Join(t.TempDir(), "copy"))
		f := copylogtest.NewFlaky(place, seed, 0)
		return random{f, place, f.SetShare, func() {}, func() map[string]int { return map[string]int{"call": f.Failed()} }}
	},
	"in a bucket": func(t *testing.T, seed uint64) random {
		s, place, well := copylogtest.NewTroubled(t, seed)
		return random{hasty{place}, well, s.SetShare, s.Settle, s.Counts}
	},
}

// seeds are the seeds of a test: 2 in make test, 6 in CI, 1,000 at length, or JOBLEDGER_SEEDS from JOBLEDGER_SEED on.
func seeds(t *testing.T) (all []uint64) {
	t.Helper()
	from, n := uint64(0), uint64(2)
	switch {
	case effort.IsLong():
		n = 1000
	case effort.IsWhole():
		n = 6
	}
	for name, value := range map[string]*uint64{"JOBLEDGER_SEED": &from, "JOBLEDGER_SEEDS": &n} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		var err error
		if *value, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s=%s: %v", name, text, err)
		}
	}
	for seed := from; seed < from+n; seed++ {
		all = append(all, seed)
	}
	return all
}

// TestACopyWhosePlaceFailsAtRandom: whatever fails, a restore gives the log up to a head that it had, and no earlier one
// than the copying has reported. When failures stop, the copy has all of it. The same seed draws the same steps; in a
// bucket, where time-outs depend on the machine, not always the same failures.
func TestACopyWhosePlaceFailsAtRandom(t *testing.T) {
	for name, make := range randoms {
		t.Run(name, func(t *testing.T) {
			all, failed := seeds(t), map[string]int{}
			var mu sync.Mutex
			t.Run("seeds", func(t *testing.T) {
				for _, seed := range all {
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						t.Parallel()
						f := newFailing(t, seed, make(t, seed))
						f.play()
						mu.Lock()
						defer mu.Unlock()
						for kind, n := range f.failed() {
							failed[kind] += n
						}
					})
				}
			})
			t.Logf("%d seeds; failures: %v", len(all), failed)
			if n := len(failed); n == 0 {
				t.Error("nothing failed")
			}
		})
	}
}

// failing is a log whose copy is at a place that fails at random.
type failing struct {
	random
	*testing.T
	source  *rand.Rand
	dir     string
	log     *boltlog.Log
	session *backup.Session
	copied  events.Sequence // of the last pass that succeeded
}

func newFailing(t *testing.T, seed uint64, place random) *failing {
	t.Helper()
	f := &failing{random: place, T: t, source: rand.New(rand.NewPCG(seed, 2)), dir: t.TempDir()}
	f.setShare(0.02 + f.source.Float64()/3)
	f.log = openLog(t, f.dir, store.Options{RotateBytes: 40 << 10})
	f.session = session(f.log, f.dir, f.place)
	return f
}

// play makes random steps, and then lets the copying catch up.
func (f *failing) play() {
	for step := range 40 {
		switch f.source.IntN(6) {
		case 0:
			packAll(f.T, f.log)
		case 1:
			_, _ = f.session.Upload(f.Context()) // it is tried again
		case 2:
			f.session = session(f.log, f.dir, f.place) // the process ended
		default:
			more(f.T, f.log, 1+f.source.IntN(40))
			if r, err := f.session.Pass(f.Context()); err == nil { // likewise
				f.copied = r.Head.Sequence
			}
		}
		if step%13 == 12 {
			f.check(f.place)
			f.check(f.well)
		}
	}
	f.setShare(0)
	f.settle()
	packAll(f.T, f.log)
	f.session = session(f.log, f.dir, f.well)
	for i := 0; i < 20 && (i == 0 || f.session.Waiting()); i++ {
		pass(f.T, f.session)
		if _, err := f.session.Upload(f.Context()); err != nil {
			f.Fatal(err)
		}
	}
	f.copied = f.log.Head().Sequence
	f.check(f.well)
	if m := manifest(f.T, f.well); len(m.Partial) > 0 {
		f.Fatalf("%d files are there as segments", len(m.Partial))
	}
	closeLog(f.T, f.log)
}

// check restores the copy. At a place that fails, a restore may fail, too.
func (f *failing) check(place copylog.Place) {
	f.Helper()
	_, _, none := copylog.ReadAll(f.Context(), f.well, copylog.ManifestName, copylog.MostManifest)
	result, err := restoreInto(f.Context(), place, filepath.Join(f.TempDir(), "out"), nil)
	switch {
	case err != nil && (place != f.well || errors.Is(none, fs.ErrNotExist) && f.copied == 0):
		return
	case err != nil:
		f.Fatalf("there is a copy, and it is not restored: %v", err)
	case result.Head.Sequence < f.copied:
		f.Fatalf("record %d was reported to be in the copy, and restored is record %d", f.copied, result.Head.Sequence)
	}
	if hash, err := f.log.Chain(result.Head.Sequence); err != nil || hash != result.Head.Hash {
		f.Fatalf("record %d is restored with hash %s, and the log has %s (%v)", result.Head.Sequence, result.Head.Hash, hash, err)
	}
}

// hasty is a place whose calls time out soon.
type hasty struct{ copylog.Place }

func (hasty) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 150*time.Millisecond)
}

func (h hasty) Get(ctx context.Context, name string) (o copylog.Opened, err error) {
	ctx, cancel := h.within(ctx)
	if o, err = h.Place.Get(ctx, name); err != nil {
		cancel()
		return o, err
	}
	o.ReadCloser = ending{o.ReadCloser, cancel}
	return o, nil
}

type ending struct {
	io.ReadCloser
	cancel func()
}

func (e ending) Close() error {
	defer e.cancel()
	return e.ReadCloser.Close()
}

func (h hasty) Range(ctx context.Context, name string, from, n int64) ([]byte, error) {
	ctx, cancel := h.within(ctx)
	defer cancel()
	return h.Place.Range(ctx, name, from, n)
}

func (h hasty) Size(ctx context.Context, name string) (int64, error) {
	ctx, cancel := h.within(ctx)
	defer cancel()
	return h.Place.Size(ctx, name)
}

func (h hasty) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	ctx, cancel := h.within(ctx)
	defer cancel()
	return h.Place.Put(ctx, name, content, size)
}

func (h hasty) Replace(ctx context.Context, name string, content []byte, tag string) (string, error) {
	ctx, cancel := h.within(ctx)
	defer cancel()
	return h.Place.Replace(ctx, name, content, tag)
}

func (h hasty) Delete(ctx context.Context, name string) error {
	ctx, cancel := h.within(ctx)
	defer cancel()
	return h.Place.Delete(ctx, name)
}

package copying_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/storetest"
)

// counted is a place that counts requests, and that may be away.
type counted struct {
	copylog.Place
	calls *atomic.Int64
	away  *atomic.Bool
}

var errAway = errors.New("the server is away")

func (c counted) call() error {
	c.calls.Add(1)
	if c.away.Load() {
		return errAway
	}
	return nil
}

func (c counted) Get(ctx context.Context, name string) (copylog.Opened, error) {
	if err := c.call(); err != nil {
		return copylog.Opened{}, err
	}
	return c.Place.Get(ctx, name)
}

func (c counted) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	if err := c.call(); err != nil {
		return err
	}
	return c.Place.Put(ctx, name, content, size)
}

func (c counted) Replace(ctx context.Context, name string, content []byte, tag string) (string, error) {
	if err := c.call(); err != nil {
		return "", err
	}
	return c.Place.Replace(ctx, name, content, tag)
}

func (c counted) Delete(ctx context.Context, name string) error {
	return errors.Join(c.call(), c.Place.Delete(ctx, name))
}

// weighed is a log that knows how much it was given.
type weighed struct {
	*boltlog.Log
	written *atomic.Uint64
}

func (w weighed) Append(b events.Batch, soon bool) store.Commit {
	c := w.Log.Append(b, soon)
	w.written.Add(uint64(c.Bytes()))
	return c
}

// running is a copier of a log that grows.
type running struct {
	*copying.Copier
	log   weighed
	place counted
	ahead chan error
	stop  func()
}

func run(t *testing.T, dir string, place copylog.Place) *running {
	t.Helper()
	log, err := boltlog.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &running{log: weighed{log, &atomic.Uint64{}}, place: counted{place, &atomic.Int64{}, &atomic.Bool{}}, ahead: make(chan error, 1)}
	r.Copier, err = copying.New(copying.Config{
		Dir: dir, Log: log, Durable: log.Durable, Written: r.log.written.Load, Place: r.place, Writer: "test", Logger: slog.New(slog.DiscardHandler),
		Ahead: func(e *backup.AheadError) { r.ahead <- e },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }() // ends with stop
	r.stop = func() {
		cancel()
		if err := errors.Join(<-ended, log.Close()); err != nil {
			t.Error(err)
		}
	}
	return r
}

func (r *running) grow(t *testing.T, batches, bytes int) {
	t.Helper()
	w := storetest.NewWriter(t, r.log)
	if r.log.Head().Sequence == 0 {
		w.Create()
	}
	for range batches {
		w.Append(false, storetest.Text("job-c", bytes))
	}
	w.Durable(storetest.Pod("job-a", batches))
}

// TestACopyIsSecondsBehind: durable records are copied within 10 seconds, and many records at once. An hour without
// records costs no request.
func TestACopyIsSecondsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, t.TempDir(), indir.New(filepath.Join(t.TempDir(), "copy")))
		defer r.stop()
		for range 5 {
			r.grow(t, 3, 300)
			before := r.place.calls.Load()
			time.Sleep(10 * time.Second)
			st := r.Status()
			if st.Copied != r.log.Head().Sequence || st.Lag != 0 || st.Problem != "" {
				t.Fatalf("10 seconds later: %+v, and the log has record %d", st, r.log.Head().Sequence)
			}
			if at, err := r.log.Offset(copying.Consumer); at != st.Copied || err != nil {
				t.Fatalf("the offset is %d, want %d, %v", at, st.Copied, err)
			}
			if calls := r.place.calls.Load() - before; before > 10 && calls > 3 {
				t.Errorf("%d requests for a few records", calls)
			}
		}
		before := r.place.calls.Load()
		time.Sleep(time.Hour)
		if calls := r.place.calls.Load() - before; calls != 0 {
			t.Errorf("%d requests in an hour without records", calls)
		}
		copied := r.Status().Copied
		r.grow(t, 2000, 1000) // 2 MB
		time.Sleep(2 * time.Second)
		if st := r.Status(); st.Copied == copied {
			t.Errorf("2 seconds after 2 MB no pass has begun: %+v", st)
		}
		time.Sleep(8 * time.Second)
		if st := r.Status(); st.Lag != 0 {
			t.Errorf("10 seconds after 2 MB: %+v", st)
		}
	})
}

// TestWhileThePlaceIsAwayTheOffsetStays, and then all follows.
func TestWhileThePlaceIsAwayTheOffsetStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, t.TempDir(), indir.New(filepath.Join(t.TempDir(), "copy")))
		defer r.stop()
		r.grow(t, 3, 300)
		time.Sleep(10 * time.Second)
		through := r.Status().Copied
		r.place.away.Store(true)
		r.grow(t, 100, 300)
		time.Sleep(10 * time.Minute)
		st := r.Status()
		if st.Copied != through || st.Lag != 101 || !strings.Contains(st.Problem, errAway.Error()) || st.Failures["other"] == 0 {
			t.Errorf("while the place is away: %+v", st)
		}
		if at, err := r.log.Offset(copying.Consumer); at != through || err != nil {
			t.Errorf("the offset went from %d to %d, %v", through, at, err)
		}
		if calls := r.place.calls.Load(); calls > 60 {
			t.Errorf("%d requests to a place that is away for ten minutes", calls)
		}
		r.place.away.Store(false)
		time.Sleep(time.Minute)
		if st := r.Status(); st.Lag != 0 || st.Problem != "" {
			t.Errorf("a minute after it came back: %+v", st)
		}
	})
}

// TestACopyThatIsAheadEndsTheCopying: the place has the copy of another instance of the log, which went on.
func TestACopyThatIsAheadEndsTheCopying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		place, dir := indir.New(filepath.Join(t.TempDir(), "copy")), t.TempDir()
		r := run(t, dir, place)
		r.grow(t, 3, 300)
		time.Sleep(10 * time.Second)
		r.stop()
		fork := filepath.Join(t.TempDir(), "fork")
		copyTree(t, dir, fork)
		r = run(t, dir, place)
		r.grow(t, 3, 300)
		time.Sleep(10 * time.Second)
		r.stop()
		head := r.log.Head()
		r = run(t, fork, place)
		defer r.stop()
		r.grow(t, 7, 100)
		time.Sleep(10 * time.Second)
		var ahead *backup.AheadError
		if err := <-r.ahead; !errors.As(err, &ahead) || !strings.Contains(err.Error(), "nothing was written there") {
			t.Fatalf("the fork is told: %v", err)
		}
		if loss := ahead.Loss(); loss != (events.Loss{Witness: events.WitnessCopy, Epoch: 1, Sequence: head.Sequence, Hash: head.Hash}) {
			t.Errorf("the copy proves %v", loss)
		}
		calls := r.place.calls.Load()
		r.grow(t, 7, 100)
		time.Sleep(time.Hour)
		if n := r.place.calls.Load() - calls; n != 0 || r.Status().Failures["ahead"] != 1 {
			t.Errorf("%d requests behind that: %+v", n, r.Status())
		}
	})
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

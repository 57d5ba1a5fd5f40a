package controller

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/internal/run/copying"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/livetail"
)

// leaving is a place that may be away.
type leaving struct {
	copylog.Place
	away *atomic.Bool
}

var errAway = errors.New("the place is away")

func (l leaving) Get(ctx context.Context, name string) (copylog.Opened, error) {
	if l.away.Load() {
		return copylog.Opened{}, errAway
	}
	return l.Place.Get(ctx, name)
}

func (l leaving) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	if l.away.Load() {
		return errAway
	}
	return l.Place.Put(ctx, name, content, size)
}

func (l leaving) Replace(ctx context.Context, name string, content []byte, tag string) (string, error) {
	if l.away.Load() {
		return "", errAway
	}
	return l.Place.Replace(ctx, name, content, tag)
}

// TestACopyThatIsAwayIsPassedOver: the place of the copy is away until the log has no room to wait for it. When it is
// back, the copy goes on with the oldest record that is kept. Its holes are what records say that it missed, and
// nothing else.
func TestACopyThatIsAwayIsPassedOver(t *testing.T) {
	most, records := int64(6<<20), 36_000
	if effort.IsLong() { // half an hour of 500 records in a second, of which the place is away for 10 minutes
		most, records = 40_000_000, 900_000
	}
	k := keep(t, most, copying.Consumer)
	place := leaving{indir.New(filepath.Join(t.TempDir(), "copy")), &atomic.Bool{}}
	var written atomic.Uint64
	copier, err := copying.New(copying.Config{
		Dir: k.dir, Log: livetail.New(k.log, 0), Durable: k.log.Durable, Written: func() uint64 { return written.Add(1 << 20) }, Place: place,
		Writer: "test", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- copier.Run(ctx) }() // ends with stop
	caughtUp := func() {
		natstest.Eventually(t, "the copy has all", func() error {
			if st := copier.Status(); st.Copied < k.log.Head().Sequence {
				return errors.New("it is behind: " + st.Problem)
			}
			return nil
		})
	}
	cfg := joblog.Busy(records)
	cfg.Parked, cfg.Single = 200, 1000
	away := false
	cfg.Between = func(now events.Time, l *loop.Loop) error {
		k.loop = l
		switch at := int(k.log.Head().Sequence); {
		case !away && len(k.missed) == 0 && at > records/3:
			caughtUp()
			place.away.Store(true)
			away = true
		case away && len(k.missed) > 0:
			place.away.Store(false)
			away = false
		}
		return k.second(now)
	}
	if _, err := joblog.Write(k.log, cfg); err != nil {
		t.Fatal(err)
	}
	if len(k.missed) == 0 {
		t.Fatal("nothing was missed")
	}
	caughtUp()
	stop()
	if err := errors.Join(<-ended, k.log.Close()); err != nil {
		t.Fatal(err)
	}
	wantHoles(t, k, place.Place)
}

// wantHoles compares the holes of a copy with what records say that it missed, and restores what is behind them.
func wantHoles(t *testing.T, k *keeping, place copylog.Place) {
	t.Helper()
	content, _, err := copylog.ReadAll(t.Context(), place, copylog.ManifestName, copylog.MostManifest)
	if err != nil {
		t.Fatal(err)
	}
	m, err := copylog.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Holes) == 0 {
		t.Fatalf("the copy has no hole, and missed %v", k.missed)
	}
	for _, h := range m.Holes {
		covered := h.From
		for _, missed := range k.missed {
			if missed.Consumer == copying.Consumer && missed.From <= covered && missed.Through >= covered {
				covered = missed.Through + 1
			}
		}
		if covered <= h.Through {
			t.Errorf("records %d to %d are not in the copy, and no record says so of %d: %v", h.From, h.Through, covered, k.missed)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	plan, err := restore.Make(t.Context(), &restore.Config{Place: place, Dir: out})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Run(t.Context())
	if err != nil || result.Head != k.log.Head() {
		t.Fatalf("restored %+v, %v", result, err)
	}
	if _, err := boltlog.Verify(t.Context(), out, nil); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(m.Holes, func(h copylog.Hole) bool { return h.Through < result.First }) {
		t.Errorf("the restored log begins with record %d, and the holes are %v", result.First, m.Holes)
	}
}

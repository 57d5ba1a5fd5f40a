package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

// keeping lets a log that a loop writes stay within its size. Its clock is the log's.
type keeping struct {
	t        *testing.T
	dir      string
	log      *boltlog.Log
	retainer *retainer
	health   *Health
	loop     *loop.Loop

	turns   int
	largest int64
	prunes  int
	missed  []events.Missed
	told    map[string]bool // what probes said, its numbers left out
	heap    []uint64        // alive at each tenth of the records
	rss     []int64         // of the process, likewise
}

func keep(t *testing.T, most int64, consumers ...string) *keeping {
	t.Helper()
	k := &keeping{t: t, dir: t.TempDir(), health: &Health{}, told: map[string]bool{}}
	log, err := boltlog.Open(k.dir, store.Options{MaxBytes: most, LogID: strings.Repeat("ab", 16)})
	if err != nil {
		t.Fatal(err)
	}
	k.log = log
	k.retainer, err = newRetainer(store.Retention{MaxBytes: most}, log, slog.New(slog.DiscardHandler), k.health, prometheus.NewRegistry(), consumers...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// size is what the files of the log take.
func (k *keeping) size() (bytes int64) {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it went a moment ago
			bytes += info.Size()
		}
	}
	return bytes
}

// files names the files of the log and their sizes.
func (k *keeping) files() string {
	var all strings.Builder
	entries, _ := os.ReadDir(k.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(&all, "\n%s %d", e.Name(), info.Size())
		}
	}
	return all.String()
}

// look lets the retainer look, and records for it what goes, as the loop's runner does.
func (k *keeping) look(now events.Time) error {
	_, whole := k.loop.World().Restated()
	k.retainer.whole.Store(uint64(whole))
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	go func() { ended <- k.retainer.let(ctx) }()
	for {
		select {
		case p := <-k.retainer.prunes:
			k.prunes++
			k.missed = append(k.missed, p.Facts.Missed...)
			at := k.loop.Prune(now, p.Facts)
			if _, err := k.log.Wait(ctx, at-1); err != nil {
				return err
			}
			close(p.Recorded)
		case err := <-ended:
			k.health.set(func(h *Health) {
				k.told[withoutNumbers(h.retention)] = true
			})
			return err
		}
	}
}

func withoutNumbers(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// second does what is done each second of the log's time, about, and looks at the size of the log at each call.
func (k *keeping) second(now events.Time) error {
	if k.turns++; k.turns%25 == 0 {
		if err := k.look(now); err != nil {
			return err
		}
	}
	if k.turns%500 == 0 {
		if _, err := k.log.Pack(k.t.Context()); err != nil && !errors.Is(err, store.ErrNoRoom) {
			return err
		}
	}
	size, most := k.size(), k.retainer.keep.MaxBytes
	if k.largest = max(k.largest, size); size > most {
		return fmt.Errorf("after record %d the log has %d bytes, more than %d: %s", k.log.Head().Sequence, size, most, k.files())
	}
	return nil
}

// TestALogStaysWithinItsSize: half an hour of a cluster that makes 500 records in a second, with a cap of 40 MB, and
// Jobs that are suspended from the first minute on. A consumer is away for most of it. In short, three minutes with 6
// MiB.
func TestALogStaysWithinItsSize(t *testing.T) {
	most, records := int64(6<<20), 90_000
	if effort.IsLong() {
		most, records = 40_000_000, 900_000
	}
	const nats = "nats"
	k := keep(t, most, nats)
	cfg := joblog.Busy(records)
	cfg.Parked, cfg.Single = 200, 1000
	away := func(at events.Sequence) bool { return int(at) > records/4 && int(at) < records/8*7 }
	var left, back events.Sequence // through which the consumer had got when it went, and from which it went on
	cfg.Between = func(now events.Time, l *loop.Loop) error {
		k.loop = l
		head := k.log.Head().Sequence
		if !away(head) {
			if left != 0 && back == 0 {
				back = k.log.First()
			}
			if err := k.log.SetOffset(nats, head); err != nil {
				return err
			}
		} else if left == 0 {
			left, _ = k.log.Offset(nats)
		}
		if err := k.second(now); err != nil {
			return err
		}
		if int(head)/(records/10) > len(k.heap) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			k.heap = append(k.heap, m.HeapAlloc)
			k.rss = append(k.rss, resident())
		}
		return nil
	}
	began := time.Now()
	l, err := joblog.Write(k.log, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records in %s; the log had %d bytes at most, begins with record %d in the end; %d times records went; told %d things; heap %v; RSS %v",
		l.World().Head, time.Since(began).Round(time.Second), k.largest, k.log.First(), k.prunes, len(k.told), k.heap, k.rss)
	if k.prunes < 3 || k.log.First() == 1 {
		t.Errorf("records went %d times, and the log begins with record %d", k.prunes, k.log.First())
	}
	if len(k.missed) == 0 || k.missed[0].From != left+1 || k.missed[len(k.missed)-1].Through != back-1 {
		t.Errorf("the consumer had got through record %d and went on with %d; recorded is %v", left, back, k.missed)
	}
	for i, m := range k.missed[min(1, len(k.missed)):] {
		if m.From != k.missed[i].Through+1 {
			t.Errorf("what the consumer missed has a hole: %v", k.missed)
		}
	}
	if !k.told["the log has  of  MiB, and files stay because nats has not got through them: at  MiB they go all the same"] {
		t.Errorf("probes said %v", k.told)
	}
	if first, last := k.heap[1], k.heap[len(k.heap)-1]; last > first+first/2 {
		t.Errorf("the heap grew from %d to %d bytes", first, last)
	}
	if first, last := k.rss[1], k.rss[len(k.rss)-1]; last > 2*first {
		t.Errorf("the RSS of the process grew from %d to %d bytes", first, last)
	}
	k.restart(l.World())
}

// restart opens the log again, without a snapshot, and finds everything as it was.
func (k *keeping) restart(want *projector.World) {
	k.t.Helper()
	if err := k.log.Close(); err != nil {
		k.t.Fatal(err)
	}
	snapshots, err := filepath.Glob(filepath.Join(k.dir, "*.snap"))
	if err != nil || len(snapshots) > 0 {
		k.t.Fatalf("snapshots %v, %v", snapshots, err)
	}
	if _, err := boltlog.Verify(k.t.Context(), k.dir, nil); err != nil {
		k.t.Fatal(err)
	}
	log, err := boltlog.Open(k.dir, store.Options{})
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	got, err := loop.Recover(k.t.Context(), log)
	if err != nil {
		k.t.Fatal(err)
	}
	if !slices.Equal(want.Streams(), got.Streams()) {
		k.t.Fatalf("the start knows %d streams, not %d", len(got.Streams()), len(want.Streams()))
	}
	for _, s := range want.Streams() {
		x, xn, _ := want.StreamState(s)
		y, yn, _ := got.StreamState(s)
		if string(x) != string(y) || string(xn) != string(yn) {
			k.t.Fatalf("the start has another state of %s", s)
		}
	}
}

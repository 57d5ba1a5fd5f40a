//go:build linux

package disk_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

const snapshots = 50

// TestSnapshotsUnderLoad takes snapshots of a volume while a log on it is written. Like a storage system's snapshot,
// each has all blocks of one instant, without a flush before. Each is mounted, verified and opened for writing, and
// must have every record that was acknowledged before the snapshot.
func TestSnapshotsUnderLoad(t *testing.T) {
	long(t)
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			v := newVolume(t, kind)
			w := startWriter(t, filepath.Join(v.dir, "log"))
			heard := hear(w)
			random := rand.New(rand.NewPCG(uint64(len(kind)), 40))
			lost, records := 0, uint64(0)
			for n := range snapshots {
				acknowledged, ok := heard.more(20 + random.IntN(200))
				if !ok {
					t.Fatalf("the writer ended by itself: %v: %s", <-w.ended, w.said.String())
				}
				snapshot := v.snapshot(t, n)
				_, meanwhile := heard.more(0)
				report, err := boltlog.Verify(context.Background(), filepath.Join(snapshot, "log"), nil, acknowledged)
				if err == nil {
					err = opened(filepath.Join(snapshot, "log"), acknowledged)
				}
				if err != nil {
					lost++
					t.Errorf("snapshot %d: record %d was acknowledged; head %d, %v", n, acknowledged.Sequence, report.Head.Sequence,
						err)
				}
				records = report.Records
				v.drop(t, snapshot)
				if !meanwhile {
					t.Fatal("nothing was written while the snapshot was taken")
				}
			}
			t.Logf("%s: %d snapshots under load, the last with %d records; %d lost acknowledged records", kind, snapshots,
				records, lost)
			_ = w.cmd.Process.Kill()
			<-w.ended //nolint:errcheck // it was killed
			<-heard.end
		})
	}
}

// opened opens a log for writing, like the next start of a controller.
func opened(dir string, acknowledged store.Head) error {
	log, err := boltlog.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	if has := log.Head(); has.Sequence < acknowledged.Sequence {
		err = fmt.Errorf("it ends with record %d", has.Sequence)
	}
	return errors.Join(err, log.Close())
}

// hearing reads the acknowledgements of a writer, so that the writer never waits.
type hearing struct {
	mu    sync.Mutex
	news  *sync.Cond
	last  store.Head
	said  int
	ended bool
	end   chan struct{}
}

func hear(w *writer) *hearing {
	h := &hearing{end: make(chan struct{})}
	h.news = sync.NewCond(&h.mu)
	go func() { // ends with the writer
		defer close(h.end)
		for w.durable(1) {
			h.mu.Lock()
			h.last = w.last
			h.said++
			h.news.Broadcast()
			h.mu.Unlock()
		}
		h.mu.Lock()
		h.ended = true
		h.news.Broadcast()
		h.mu.Unlock()
	}()
	return h
}

// more waits for that many further acknowledgements, and returns the last one; !ok: the writer has ended.
func (h *hearing) more(times int) (last store.Head, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for until := h.said + times; h.said < until && !h.ended; {
		h.news.Wait()
	}
	return h.last, !h.ended
}

// volume is a file system in a file, on a file system that shares blocks between copies of files: a copy of the file by
// reference is like a storage system's snapshot.
type volume struct {
	dir   string // where the file system is mounted
	below string // the directory of its file
	kind  string
}

func newVolume(t *testing.T, kind string) *volume {
	t.Helper()
	if os.Getuid() != 0 {
		lacks(t, errors.New("mounting file systems needs root"))
	}
	for _, program := range []string{"mkfs.xfs", "mkfs." + kind, "losetup", "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			lacks(t, fmt.Errorf("a file system with reflinks is made by %s: %w", program, err))
		}
	}
	around := t.TempDir()
	v := &volume{dir: filepath.Join(around, "volume"), below: filepath.Join(around, "below"), kind: kind}
	pool := filepath.Join(around, "pool.img")
	if err := makeSystem(pool, "xfs", 2<<30, v.below); err != nil {
		lacks(t, fmt.Errorf("XFS in a loop file: %w", err))
	}
	t.Cleanup(func() { unmount(t, v.below) })
	if err := makeSystem(v.file(), kind, 600<<20, v.dir); err != nil {
		lacks(t, fmt.Errorf("%s in a loop file: %w", kind, err))
	}
	t.Cleanup(func() { unmount(t, v.dir) })
	return v
}

func (v *volume) file() string { return filepath.Join(v.below, "volume.img") }

// snapshot takes a snapshot and mounts it.
func (v *volume) snapshot(t *testing.T, n int) (dir string) {
	t.Helper()
	file := filepath.Join(v.below, fmt.Sprintf("snapshot-%d.img", n))
	dir = filepath.Join(filepath.Dir(v.below), fmt.Sprintf("snapshot-%d", n))
	options := "loop"
	if v.kind == "xfs" {
		options += ",nouuid" // the volume itself is mounted, too
	}
	err := errors.Join(do("cp", "--reflink=always", v.file(), file), os.Mkdir(dir, 0o700), do("mount", "-o", options,
		file, dir))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// drop unmounts a snapshot and deletes it.
func (v *volume) drop(t *testing.T, dir string) {
	t.Helper()
	unmount(t, dir)
	if err := errors.Join(os.Remove(dir), os.Remove(filepath.Join(v.below, filepath.Base(dir)+".img"))); err != nil {
		t.Error(err)
	}
}

// makeSystem makes a file system in a file, and mounts it.
func makeSystem(file, kind string, bytes int64, at string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(bytes), f.Close(), os.MkdirAll(at, 0o700)); err != nil {
		return err
	}
	return errors.Join(do("mkfs."+kind, "-q", file), do("mount", "-o", "loop", file, at))
}

func unmount(t *testing.T, dir string) {
	if err := do("umount", dir); err != nil {
		t.Error(err)
	}
}

func do(program string, args ...string) error {
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
	}
	return nil
}

package boltlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// tmpfs mounts a file system of that size for the test.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs to mount a tmpfs (root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

func TestFullDiskIsKnownBeforeATurnAndRecovers(t *testing.T) {
	disk := tmpfs(t, "6m")
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(disk, "log")
	log := openLog(t, dir, store.Options{RotateBytes: 512 << 10})
	w := storetest.NewWriter(t, log)
	w.Create()
	turn := func(n int) error {
		if err := log.Room(40 << 10); err != nil {
			return err
		}
		var commits []store.Commit
		for i := range 20 { // 20 batches of nearly 2 KB each
			commits = append(commits, w.Append(i%4 == 0, storetest.Text("job-a", 1500), storetest.Pod("job-b", n)))
		}
		for _, c := range commits {
			storetest.Await(t, c) // a commit never fails for space that Room promised
		}
		return nil
	}
	fill := func() int {
		for n := range 1000 {
			if err := turn(n); err != nil {
				if !errors.Is(err, store.ErrNoRoom) {
					t.Fatalf("room on a full disk: %v, want ErrNoRoom", err)
				}
				return n
			}
		}
		t.Fatal("6 MB took 1000 turns of 40 KB")
		return 0
	}
	first := fill()
	if first < 20 {
		t.Errorf("a disk of 4 MB is full after %d turns of 40 KB", first)
	}
	for range 3 {
		if err := log.Room(40 << 10); !errors.Is(err, store.ErrNoRoom) {
			t.Fatalf("room, asked again on a full disk: %v, want ErrNoRoom", err)
		}
	}
	full := log.Head()
	if got := uint64(len(records(t, log))); got != uint64(full.Sequence) {
		t.Errorf("%d records are readable on the full disk, want %d", got, full.Sequence)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if more := fill(); more < 10 {
		t.Errorf("2 MB more gave room for %d turns of 40 KB", more)
	}
	if log.Head().Sequence <= full.Sequence {
		t.Error("the log did not go on when space returned")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log = openLog(t, dir, store.Options{RotateBytes: 512 << 10}) // opens on a full disk too
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Verify(context.Background(), dir, nil); err != nil {
		t.Error(err)
	}
}

func TestNewLogOnAFullDisk(t *testing.T) {
	for _, room := range []int{0, 4 << 10, 40 << 10} { // too little for the lock, for an empty file, for a first commit
		disk := tmpfs(t, "64k")
		ballast := filepath.Join(disk, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 64<<10-room), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := boltlog.Open(filepath.Join(disk, "log"), store.Options{})
		if !errors.Is(err, store.ErrNoRoom) {
			t.Errorf("open on a disk with %d bytes of room: %v, want ErrNoRoom", room, err)
		}
	}
}

func TestAnOldLogOnAFullDisk(t *testing.T) {
	for _, rest := range []int{0, 4 << 10} {
		disk := tmpfs(t, "8m")
		dir := filepath.Join(disk, "log")
		log := openLog(t, dir, small)
		w := storetest.NewWriter(t, log)
		w.Create()
		want := w.Durable(storetest.Pod("job-a", 1)).Last()
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		ballast := filepath.Join(disk, "ballast")
		fill(t, ballast, rest)
		log = openLog(t, dir, small)
		if err := log.Room(1 << 20); !errors.Is(err, store.ErrNoRoom) {
			t.Errorf("room on a disk with %d bytes of it: %v, want ErrNoRoom", rest, err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		log = openLog(t, dir, small)
		if err := log.Room(1 << 20); err != nil || log.Head().Sequence != want {
			t.Errorf("with room again: %v, head %d, want %d", err, log.Head().Sequence, want)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}

// fill fills a file system except for `rest` bytes.
func fill(t *testing.T, path string, rest int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Truncate(info.Size() - int64(rest))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestUsage(t *testing.T) {
	disk := tmpfs(t, "16m")
	dir := filepath.Join(disk, "log")
	log := openLog(t, dir, small)
	defer log.Close()
	bytes, free, err := log.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if total := bytes + free; bytes < 32<<10 || total > 16<<20 || total < 15<<20 {
		t.Errorf("%d bytes and %d free on a disk of 16 MB", bytes, free)
	}
	if err := os.MkdirAll(filepath.Join(dir, "nats"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "nats", "stream"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	after, less, err := log.Usage()
	if err != nil || after != bytes || less != free-1<<20 {
		t.Errorf("with 1 MB of somebody else in the directory: %d bytes, %d free (%v), before %d and %d", after, less, err, bytes, free)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	disk := tmpfs(t, "16m")
	dir := filepath.Join(disk, "log")
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 300 {
		w.Append(false, storetest.Pod("job-a", n), storetest.Pod("job-b", n))
	}
	w.Durable(storetest.Pod("job-a", 1))
	all := records(t, log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Open(dir, small); !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), dir) {
		t.Errorf("open to write: %v, want a read-only file system and the path", err)
	}
	reader, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, "read-only disk", reader, all)
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if report, err := boltlog.Verify(context.Background(), dir, nil); err != nil || report.Records != uint64(len(all)) {
		t.Errorf("verify: %d records, error %v, want %d", report.Records, err, len(all))
	}
}

func TestReadOnlyFile(t *testing.T) {
	dir, all := written(t, 30)
	paths := files(t, dir, ".db")
	forbidWriting(t, paths[len(paths)-1])
	_, err := boltlog.Open(dir, small)
	if !errors.Is(err, os.ErrPermission) && !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), paths[len(paths)-1]) {
		t.Errorf("open to write: %v, want that the file may not be written", err)
	}
	reader, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	readAll(t, "read-only file", reader, all)
}

// forbidWriting makes a file read-only. Root ignores permissions, so for root the file is mounted read-only.
func forbidWriting(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := syscall.Mount(path, path, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("needs to mount a file onto itself: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", path, err)
		}
	})
	if err := syscall.Mount("", path, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

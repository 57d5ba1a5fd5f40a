package publish_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// tmpfs mounts a file system of that size for one test.
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

// TestAServerWhoseDiskIsFull takes a real file system to its end, and gives it room again.
func TestAServerWhoseDiskIsFull(t *testing.T) {
	disk := tmpfs(t, "24m")
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 22<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := natstest.NewServer(t)
	s.Dir = filepath.Join(disk, "nats")
	s.Start()
	l := natstest.NewLedger(t, 3000).Grow(0)
	p := natstest.Publish(t, s, l.Log)
	problem(t, p, "the server does not acknowledge")
	problem(t, p, "restart the server")
	at, lag := p.Status().Acked, p.Status().Lag
	if at == 0 || lag == 0 {
		t.Fatalf("the disk is full after %d records, with %d to come", at, lag)
	}
	s.Stop()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.Start()
	p.CaughtUp(t)
	t.Logf("the disk was full after %d records", at)
	wantWhole(t, s, l.Log)
	s.Stop() // before its disk goes
}

package embedded_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/embedded"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestAFullDiskIsOverWhenThereIsRoom fills a real file system, then frees space. Nothing is restarted.
func TestAFullDiskIsOverWhenThereIsRoom(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("needs to mount a tmpfs (root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", disk, err)
		}
	})
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 36<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := embedded.Start(embedded.Config{Dir: filepath.Join(disk, "nats"), Listen: "127.0.0.1:0", ReaderSecret: filepath.Join(dir, embedded.Reader)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // before its disk goes
	_, js := connect(t, "", s.Options()...)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: records, Subjects: []string{nats.Everything("c")}}); err != nil {
		t.Fatal(err)
	}
	_, reader := connect(t, s.URL(), as(t, embedded.Reader, dir))
	publish := func() error {
		bound, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := js.Publish(bound, subject, make([]byte, 64<<10), jetstream.WithRetryAttempts(0))
		return err
	}
	stored := 0
	for ; publish() == nil; stored++ {
		if stored > 1000 {
			t.Fatal("the disk does not fill")
		}
	}
	if err := publish(); err == nil {
		t.Fatal("the server takes more: it does not need this test")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "something is stored, as there is room", publish)
	st, err := reader.Stream(t.Context(), records)
	if err != nil {
		t.Fatalf("a reader that was connected finds nothing: %v", err)
	}
	if got := st.CachedInfo().State.Msgs; got < uint64(stored) {
		t.Errorf("the stream has %d messages, and %d were acknowledged", got, stored)
	}
}

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDisk: a disk without room is one finding, which says to make room, and not that an account may not write.
func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small file system is needed, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "fill"), make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("it is not full")
	}
	var about []Finding
	for _, f := range disk(t.Context(), &Config{Log: Log{Dir: dir}}) {
		if !strings.Contains(f.Text, "is on tmpfs") {
			about = append(about, f)
		}
	}
	if len(about) != 1 || about[0].Level != Problem || about[0].Do != "make room" || !strings.HasPrefix(about[0].Text, "0 bytes are free") {
		t.Errorf("told %+v", about)
	}
}

//go:build linux

package soak

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// disk is a separate file system, in a sparse file.
type disk struct{ dir string }

const diskSize = 4 << 30

func newDisk(t *testing.T) *disk {
	t.Helper()
	dir := t.TempDir()
	d := &disk{dir: filepath.Join(dir, "disk")}
	image := filepath.Join(dir, "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Truncate(image, diskSize), os.Mkdir(d.dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"mkfs.ext4", "-q", "-m", "0", image}, {"mount", "-o", "loop", image, d.dir}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("needs a disk of its own (root): %v: %v %s", args, err, out)
		}
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, 0); err != nil {
			t.Errorf("unmount %s: %v", d.dir, err)
		}
	})
	return d
}

func (d *disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill uses up all free space, without writing to it.
func (d *disk) fill(t *testing.T) {
	t.Helper()
	f, err := os.Create(d.ballast())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var size int64
	for step := int64(1 << 30); step >= 4096; {
		switch err := syscall.Fallocate(int(f.Fd()), 0, size, step); {
		case err == nil:
			size += step
		case errors.Is(err, syscall.ENOSPC):
			step /= 2
		default:
			t.Fatal(err)
		}
	}
}

func (d *disk) empty(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		t.Fatal(err)
	}
}

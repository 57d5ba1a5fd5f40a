//go:build linux

package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Disk is a disk with an ext4 file system whose writes can be made to fail. Create it with New, and Close it.
type Disk struct {
	Dir string // mount point of the disk's file system

	below  string // mount point of the FUSE file system with the file that contains the disk's blocks
	device string
	server *fuse.Server
	blocks *blocks
}

// New creates an empty disk of size bytes below dir. It returns an error if this machine lacks something that is
// needed.
func New(dir string, size int64) (d *Disk, err error) {
	d = &Disk{
		Dir: filepath.Join(dir, "disk"), below: filepath.Join(dir, "blocks"), blocks: &blocks{content: make([]byte, size)},
	}
	for _, mountPoint := range []string{d.Dir, d.below} {
		if err := os.Mkdir(mountPoint, 0o700); err != nil {
			return nil, err
		}
	}
	d.server, err = fs.Mount(d.below, &root{blocks: d.blocks}, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "blocks", DirectMountFlags: syscall.MS_NODEV},
	})
	if err != nil {
		return nil, fmt.Errorf("mount by FUSE: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	out, err := run("losetup", "--find", "--show", filepath.Join(d.below, blocksName))
	if err != nil {
		return nil, err
	}
	d.device = strings.TrimSpace(out)
	if _, err := run("mkfs.ext4", "-q", "-E", "nodiscard", d.device); err != nil {
		return nil, err
	}
	return d, d.mount()
}

func (d *Disk) mount() error {
	_, err := run("mount", "-t", "ext4", "-o", "nodiscard", d.device, d.Dir)
	return err
}

func run(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// Fail makes the next writes to the disk fail: as many as writes says; 0 for none.
func (d *Disk) Fail(writes int) {
	d.blocks.mu.Lock()
	defer d.blocks.mu.Unlock()
	d.blocks.failing = writes
}

// Failed returns how many writes have failed so far.
func (d *Disk) Failed() int {
	d.blocks.mu.Lock()
	defer d.blocks.mu.Unlock()
	return d.blocks.failed
}

// Remount unmounts the file system and mounts it again, which drops its page cache.
func (d *Disk) Remount() error {
	if _, err := run("umount", d.Dir); err != nil {
		return err
	}
	return d.mount()
}

// Close unmounts and removes everything.
func (d *Disk) Close() error {
	d.Fail(0)
	var errs []error
	if exec.Command("mountpoint", "-q", d.Dir).Run() == nil {
		_, err := run("umount", "-l", d.Dir)
		errs = append(errs, err)
	}
	if d.device != "" {
		_, err := run("losetup", "--detach", d.device)
		errs = append(errs, err)
	}
	if _, err := run("umount", "-l", d.below); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

const blocksName = "blocks"

// root is the root directory of the FUSE file system. It has one file, with the blocks of the disk.
type root struct {
	fs.Inode
	blocks *blocks
}

// OnAdd creates the file with the disk's blocks in the directory.
func (r *root) OnAdd(ctx context.Context) {
	r.AddChild(blocksName, r.NewPersistentInode(ctx, r.blocks, fs.StableAttr{Mode: fuse.S_IFREG}), false)
}

// blocks is a file in memory with the blocks of the disk. Its writes can be made to fail.
type blocks struct {
	fs.Inode

	mu      sync.Mutex
	content []byte
	failing int // how many of the next writes fail
	failed  int // number of writes that have failed so far
}

// Open opens the file without a page cache.
func (b *blocks) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

// Getattr returns mode and size of the file.
func (b *blocks) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = fuse.S_IFREG|0o600, uint64(len(b.content))
	return 0
}

// Setattr changes nothing, and returns mode and size.
func (b *blocks) Setattr(ctx context.Context, f fs.FileHandle, _ *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return b.Getattr(ctx, f, out)
}

// Read reads from the blocks in memory.
func (b *blocks) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	b.mu.Lock()
	defer b.mu.Unlock()
	off = min(off, int64(len(b.content)))
	return fuse.ReadResultData(dest[:copy(dest, b.content[off:])]), 0
}

// Write writes to the blocks in memory, or fails with EIO if Fail was called for this write.
func (b *blocks) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failing > 0:
		b.failing--
		b.failed++
		return 0, syscall.EIO
	case off+int64(len(data)) > int64(len(b.content)):
		return 0, syscall.ENOSPC
	}
	return uint32(copy(b.content[off:], data)), 0
}

// Fsync does nothing, since the blocks are in memory.
func (b *blocks) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

// Package disk tests the log on a disk that goes wrong: one that answers EIO for a while.
//
// Disk is a real disk for the kernel: a loop device, whose blocks a FUSE file system in this process keeps in memory,
// with an ext4 file system on it. It fails writes when it is told to. So what the page cache and the file system make
// of a failed write is the kernel's own doing and no guess of ours.
//
// A process that writes to a Disk must be another one than this: a page fault of its own would wait for itself.
//
// All of it runs with JOBLEDGER_LONG only. It needs Linux, root, /dev/fuse, loop devices and ext4; where one of these
// lacks, the tests fail when CI is set, and are skipped with its name elsewhere.
//
// # Concurrency
//
// Each test has a Disk of its own.
//
// Read next: eio_test.go, then faulty.go.
package disk

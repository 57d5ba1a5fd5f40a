// Package disk tests the log on a faulty disk: one that answers EIO for a while.
//
// For the kernel, Disk is a real disk: a loop device with an ext4 file system. A FUSE file system in this process keeps
// its blocks in memory, and makes writes fail on request. So after a failed write the page cache and the file system
// behave as they really do.
//
// Only other processes may write to a Disk. A page fault of this process would have to be served by this process, and
// would block it.
//
// All tests need JOBLEDGER_LONG, and Linux, root, /dev/fuse, loop devices and ext4. If one of these is missing, the
// tests fail in CI, and elsewhere are skipped with a message.
//
// # Concurrency
//
// Each test has its own Disk.
//
// Read next: eio_test.go, then faulty.go.
package disk

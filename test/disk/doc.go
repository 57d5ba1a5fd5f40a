// Package disk tests the log on a faulty disk: one that answers EIO for a while.
//
// For the kernel, Disk is a real disk: a loop device with an ext4 file system. A FUSE file system in this process keeps
// its blocks in memory, and fails writes on request. So the kernel itself determines what the page cache and the file
// system do after a failed write.
//
// Only other processes may write to a Disk: a page fault of this process would wait for itself.
//
// All tests need JOBLEDGER_LONG, and Linux, root, /dev/fuse, loop devices and ext4. If one of these is missing, the
// tests fail if CI is set, and else are skipped with a message.
//
// # Concurrency
//
// Each test has its own Disk.
//
// Read next: eio_test.go, then faulty.go.
package disk

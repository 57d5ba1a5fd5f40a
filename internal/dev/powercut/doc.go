// Package powercut says what a disk may hold after a power cut, from the system calls that a real process made.
//
// A Recorder runs a process under ptrace and writes down every call that changes files below one directory, with its
// data, and when the call began and ended: writes, syncs, allocations, changes of size, new files and directories,
// renames, deletions. What the process says on its standard output stands among the calls, so it is known what it had
// acknowledged by when.
//
// A Disk plays these calls. At any point it knows what must be there after a power cut, which is all that a sync had
// covered, and makes states in which any part of the rest is there too: whole writes, pages of 4 KiB, sectors of 512
// bytes, sizes without data, names without their directory's sync, or the opposite of each.
//
// Invariants:
//
//   - A call counts as done when the kernel said so, and as covered by a sync when it was done before that sync began.
//   - A call that could change a file and is not understood ends the recording with an error.
//   - fsync of a file makes its content and its size durable, and not its name: that takes a sync of the directory.
//
// It needs Linux and the right to trace a child, and neither root nor devices: ErrCannotTrace says that the machine
// lacks it.
//
// # Concurrency
//
// A Recorder, a Disk and a State belong to one goroutine. A Trace is not changed any more once it is recorded.
//
// Read next: trace.go, then disk.go and states.go; record_linux.go for ptrace. Package cutlog checks a log with it.
package powercut

// Package powercut computes what a disk may hold after a power cut, from the system calls of a real process.
//
// A Recorder runs a process under ptrace. It records every call that changes files below one directory, with its data,
// its begin and its end: writes, syncs, allocations, changes of size, new files and directories, renames, deletions.
// The process's standard output is recorded among the calls, so it is known what the process had acknowledged at each
// point.
//
// A Disk replays these calls. At any point it knows what must survive a power cut: everything that a sync covered. It
// produces states in which any part of the rest survives too: whole writes, pages of 4 KiB, sectors of 512 bytes, sizes
// without data, names without a sync of their directory, or the opposite of each.
//
// Invariants:
//
//   - A call is done when the kernel has returned from it. A sync covers the calls that were done before it began.
//   - A call that could change a file and is not understood ends the recording with an error.
//   - fsync of a file makes its content and size durable, but not its name: that takes a sync of the directory.
//
// The package needs Linux and the right to trace a child process. It needs neither root nor devices. ErrCannotTrace
// says that the machine does not allow tracing.
//
// # Concurrency
//
// A Recorder, a Disk and a State belong to one goroutine. A recorded Trace no longer changes.
//
// Read next: trace.go, then disk.go and states.go; record_linux.go for ptrace. Package cutlog uses it to check a log.
package powercut

// Package child starts processes that do not outlive this one.
//
// A child gets a process group of its own, so that a Ctrl-C in the terminal reaches only the parent, which then stops
// its children in order; and on Linux the kernel kills the child when the parent dies, however it dies.
//
// # Concurrency
//
// Start may be called from any goroutine. Linux ties the death signal to the thread that started the child, not to the
// process, so Start gives every child a locked thread of its own until the child has ended.
package child

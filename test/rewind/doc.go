// Package rewind restores a real cluster from a snapshot of its etcd, like an operator who has lost it, while
// controllers run: a jobledger that runs through it, one that is stopped before and started after it, and, for
// comparison, the built-in Job controller.
package rewind

// Package rewind restores a real cluster from a snapshot of its etcd, as an operator does who has lost it, under
// controllers that run: one jobledger that lives through it, one that is stopped before and started afterwards, and the
// built-in Job controller beside them for comparison.
package rewind

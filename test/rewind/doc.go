// Package rewind restores a real cluster from a snapshot of its etcd, as an operator does who has lost the cluster,
// while controllers run. There are three: a jobledger that keeps running, one that is stopped before and started after
// the restore, and, for comparison, the built-in Job controller.
package rewind

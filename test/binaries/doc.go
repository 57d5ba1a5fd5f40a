// Package binaries builds the programs of a Kubernetes control plane from their Go modules, once, and remembers where
// they are.
//
// The versions are those of test/tools/go.mod, a module of its own: what Kubernetes, etcd and kwok need never meets
// what Jobledger needs, and a change of Jobledger's own modules does not make Kubernetes compile again.
//
// Older minor versions of Kubernetes have modules of their own, test/tools/kubernetes-1.X, and files of their own, such
// as 1.32/kube-apiserver. They are built only for who asks for that minor, as test/minors does.
//
// A program in the directory is current when the stamp beside it names the version and the flags that are wanted; a
// current program is never built again. A program appears by rename, so half of one is never run.
//
// # Concurrency
//
// Any number of processes may call Ensure at once: one of them builds, under a file lock in the directory, and the
// others wait and then find everything there. The kernel releases the lock of a process that dies.
//
// Read next: package controlplane, which runs them.
package binaries

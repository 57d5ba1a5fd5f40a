// Package binaries builds the programs of a Kubernetes control plane from their Go modules, once, and returns their
// paths.
//
// The versions are those of test/tools/go.mod, a separate module. So the dependencies of Kubernetes, etcd and kwok do
// not mix with those of Jobledger, and a change of Jobledger's modules does not rebuild Kubernetes.
//
// Older minor versions of Kubernetes have their own modules, test/tools/kubernetes-1.X, and their own files, such as
// 1.32/kube-apiserver. They are built only if a caller asks for that minor, as test/minors does.
//
// A program in the directory is up to date if its stamp, a file beside it, names the wanted version and flags; such a
// program is never built again. A finished program is renamed into its place, so an unfinished one is never run.
//
// # Concurrency
//
// Any number of processes may call Ensure at once. One of them builds, under a file lock in the directory; the others
// wait and then find the programs. The kernel releases the lock of a process that dies.
//
// Read next: package controlplane, which runs them.
package binaries

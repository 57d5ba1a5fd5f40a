// Package controlplane runs a real Kubernetes control plane for tests and demonstrations: etcd, kube-apiserver,
// kube-controller-manager with the controllers a Job needs around it, kube-scheduler, and kwok in the place of the
// kubelets. The programs come from package binaries.
//
// What is as in a cluster: validation, defaulting, admission, RBAC, resource versions, watches, finalizers, graceful
// deletion, owner references and their garbage collection, scheduling. What is not: no container runs. A pod's life is
// chosen by its annotations, see Outcome and the other annotations in stages.go; nodes never become unhealthy; there is
// no network and no storage.
//
// Invariants:
//
//   - Everything listens on loopback, on ports (or a socket) that the kernel chose; any number of control planes run beside
//     each other.
//   - No process outlives Stop, nor, on Linux, the process that called Start.
//   - Stop removes what Start wrote, except after a failure: then the logs stay, and the error or the test's log says where.
//
// # Concurrency
//
// All methods of ControlPlane may be called from any goroutine.
//
// Read next: options.go for what can be chosen, stages.yaml for how pods live, audit.go for counting writes.
package controlplane

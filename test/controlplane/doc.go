// Package controlplane runs a real Kubernetes control plane for tests and demonstrations: etcd, kube-apiserver,
// kube-controller-manager with the controllers that Jobs depend on, kube-scheduler, and kwok in place of the kubelets.
// The programs come from package binaries.
//
// As in a cluster: validation, defaulting, admission, RBAC, resource versions, watches, finalizers, graceful deletion,
// owner references and their garbage collection, scheduling. Not as in a cluster: no container runs. Annotations decide
// how a pod runs and ends, see Outcome and the other annotations in stages.go. Nodes never become unhealthy. There is
// no network and no storage.
//
// Invariants:
//
//   - Everything listens on loopback, on ports (or a socket) that the kernel chose. Any number of control planes can
//     run at the same time.
//   - No process outlives Stop, nor, on Linux, the process that called Start.
//   - Stop removes what Start wrote, except after a failure. Then the logs stay, and the error or the test's output
//     says where they are.
//
// # Concurrency
//
// All methods of ControlPlane may be called from any goroutine.
//
// Read next: options.go for the options, stages.yaml for the life of pods, audit.go for counting writes.
package controlplane

// Package kubelet plays the kubelet of a node by hand: nothing happens to a pod there before a test says so.
//
// Pods come to the node by spec.nodeName, see [Place]; neither the scheduler nor kwok touches them. Each write to a pod
// carries the pod's UID, so that it never reaches a successor of the same name.
//
// # Concurrency
//
// A Kubelet is safe for concurrent use.
//
// Read next: kubelet.go.
package kubelet

// Package kubelet lets a test act as the kubelet of a node: nothing happens to a pod there unless the test says so.
//
// Pods come to the node by spec.nodeName, see [Place]; neither the scheduler nor kwok touches them. Each write to a pod
// names the pod's UID, so that it never reaches a new pod of the same name.
//
// # Concurrency
//
// A Kubelet is safe for concurrent use.
//
// Read next: kubelet.go.
package kubelet

// Package kubelet takes the place of the scheduler and the kubelets of a cluster, so that a benchmark measures only the
// controller that makes the pods.
//
// With Nodes 0, it ends each new pod with one patch of its status, which is the cheapest way. With nodes, each step of
// a pod's life is a separate write, as kube-scheduler and a kubelet make them:
//
//	seen      binding of the pod to a node                  scheduler, any number at a time
//	bound     phase Pending, container is being created     kubelet of the node
//	          phase Running, Ready                          kubelet of the node
//	run time  phase Succeeded or Failed, no longer Ready    kubelet of the node
//
// A kubelet writes one status at a time, like a real one: 100 nodes have at most 100 writes in flight. No container
// runs, nodes do not exist, and nothing is done for a pod that is deleted.
//
// # Concurrency
//
// Run may be called once. It calls Config's functions from its goroutines, Seen in the order of the watch.
package kubelet

// Package kubelet stands in for scheduler and kubelets of a cluster, so that what is measured is the controller that
// makes the pods.
//
// Nodes 0 ends each pod with one patch of its status when it appears: as cheaply as the API allows. With nodes, pods
// live, each step a write of its own, as kube-scheduler and a kubelet make them:
//
//	seen      binding of the pod to a node                  scheduler, any number at a time
//	bound     phase Pending, container is being created     kubelet of the node
//	          phase Running, Ready                          kubelet of the node
//	run time  phase Succeeded or Failed, no longer Ready    kubelet of the node
//
// A kubelet writes one status at a time, as a real one does: 100 nodes have 100 writes under way at most. Nothing runs,
// nodes do not exist, and a pod that is deleted is not helped along.
//
// # Concurrency
//
// Run may be called once; Config's functions are called from its goroutines, Seen in the order of the watch.
package kubelet

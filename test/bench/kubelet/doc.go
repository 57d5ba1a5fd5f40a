// Package kubelet ends pods as cheaply as the API allows, so that what is measured is the controller that makes them: one
// watch, and one patch of the status of each pod, from Pending to Succeeded or Failed. Nothing runs, nodes do not exist, and
// a pod that is deleted is not helped along.
//
// # Concurrency
//
// Run may be called once; Config's functions are called from its goroutines, Seen in the order of the watch.
package kubelet

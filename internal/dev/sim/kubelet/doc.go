// Package kubelet is the life of Pods in the simulation: it schedules them, runs them for a virtual time, ends them,
// and confirms their deletion, as a scheduler and the kubelets of a few nodes do.
//
// How a Pod goes is decided by its annotations ([AnnotationOutcome], [AnnotationRunFor], …), which a Job's template
// hands to its Pods, and by the seed for what they leave open. Whatever takes time is an item in the virtual clock's
// queue; nothing happens by itself between two calls of [Kubelet.Sync].
//
// # Concurrency
//
// One goroutine owns a Kubelet, its server and its clock.
package kubelet

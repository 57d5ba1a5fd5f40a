// Package kubelet simulates the life of Pods. It schedules them, runs them for a virtual time, ends them, and confirms
// their deletion, as a scheduler and the kubelets of a few nodes do.
//
// Annotations of a Pod ([AnnotationOutcome], [AnnotationRunFor], …), which come from its Job's template, decide what
// happens to it. The seed decides the rest. Everything that takes time is an item in the queue of the virtual clock;
// between two calls of [Kubelet.Sync] nothing happens unless the clock is moved.
//
// # Concurrency
//
// One goroutine owns a Kubelet, its server and its clock.
package kubelet

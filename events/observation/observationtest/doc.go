// Package observationtest builds Kubernetes objects, and shows observations as lines, for the tests of packages
// observation and informer.
//
//	job := observationtest.Job("a")
//	pod := observationtest.Pod("a-1", observationtest.Of(job), observationtest.Finalizer(events.TrackingFinalizer))
//
// It does not import package observation, whose own tests use it.
package observationtest

// Package conformance runs Kubernetes' end-to-end specs for Jobs, CronJobs and TTLs on a real node, once with Jobledger
// in place of the built-in controllers, and once with the built-in controllers. 'make conformance' writes the outcomes
// into docs/conformance-e2e.md.
//
// The specs are those of k8s.io/kubernetes/test/e2e in the control plane's release, built from its module, unchanged.
// specs.txt lists them; if a release has other specs, the run fails until the list is changed. The images that the
// specs name are built here, under the same names.
//
// Each of the two controllers has two clusters, one after the other: one with the defaults of Kubernetes, and one with
// the feature gates that the alpha specs need.
//
// The package needs root on Linux and JOBLEDGER_LONG=1; see package node for the rest. Without these, the only test
// compares the page with specs.txt.
package conformance

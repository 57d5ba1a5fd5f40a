// Package conformance runs the end-to-end specs that Kubernetes has for Jobs, CronJobs and TTLs, on a real node, with
// Jobledger in the place of the built-in controllers, and then with these. 'make conformance' writes the outcomes into
// docs/conformance-e2e.md.
//
// The specs are those of k8s.io/kubernetes/test/e2e of the control plane's release, built from its module, unchanged.
// specs.txt lists them; a release that has others fails the run until the list is changed. The images that they name
// are made here, under these names.
//
// There are two clusters for each contender, one after the other: one as Kubernetes is by default, and one with the
// feature gates of the specs that are alpha.
//
// It needs root on Linux and JOBLEDGER_LONG=1 (package node says what else). Without these only the page is compared
// with specs.txt.
package conformance

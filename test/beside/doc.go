// Package beside runs the real controllers of Kueue and of JobSet beside ours, on a real API server with simulated
// nodes: what they do to Jobs is what they do, and not what we think of it.
//
// Each scenario is played twice. In one cluster the built-in Job controller runs and ours has the Jobs that name it
// (--manage=delegated); in the other ours runs all Jobs (--manage=all). Each has a namespace, queues, and a controller
// of ours of its own. Kueue and JobSet are built from their modules (test/tools), installed from the manifests of their
// releases, and run with the rights that these give them. What differs from a release: they listen on loopback, so the
// webhooks have a URL in place of a Service; the test makes their certificates; nobody elects a leader; Kueue's
// visibility server, which nothing uses here, is off.
//
// At the end of each scenario the log is verified and replayed, nothing was forbidden to ours, no pod keeps a
// finalizer, and over all that was stored the rules of package ledger hold.
//
// It takes minutes, and minutes more to build what runs: JOBLEDGER_LONG.
//
// Read next: beside_test.go, then kueue_test.go and jobset_test.go.
package beside

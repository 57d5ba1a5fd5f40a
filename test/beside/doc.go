// Package beside runs the real controllers of Kueue and of JobSet beside Jobledger, on a real API server with simulated
// nodes. So the tests see what these tools really do to Jobs.
//
// Each scenario runs twice. In one cluster the built-in Job controller runs, and Jobledger runs only the Jobs that name
// it (--manage=delegated). In the other Jobledger runs all Jobs (--manage=all). Each scenario has its own namespace,
// queues and Jobledger. Kueue and JobSet are built from their modules (test/tools), installed from the manifests of
// their releases, and run with the rights of these manifests. Differences from a release: they listen on loopback, so
// the webhooks have a URL in place of a Service; the test makes their certificates; there is no leader election;
// Kueue's visibility server, which the tests do not use, is off.
//
// At the end of each scenario the log is verified and replayed, no request of Jobledger was forbidden, no pod has a
// finalizer, and the rules of package ledger hold for everything that was stored.
//
// It takes minutes, and more minutes to build the programs, so it needs JOBLEDGER_LONG.
//
// Read next: beside_test.go, then kueue_test.go and jobset_test.go.
package beside

// Package release removes from the cluster what Jobledger left there (tracking finalizers and Leases), so that
// Jobledger can be uninstalled. It reads only the cluster, so it works after the controller and its log are gone.
// Invariants:
//
//   - It changes nothing while one of our Leases is being renewed: the running controller would lose count of its
//     pods.
//   - A patch has the pod's UID as a precondition, and removes only the finalizers. It is safe to run it again.
//   - The built-in controller's finalizer is removed only from pods of finished Jobs, which are counted already,
//     unless the caller names this finalizer.
//   - If one object fails, the others are still handled. A second listing, and not the answers, shows what remains.
//   - A dry run only reads, and reports the same objects.
//
// Start at [Run]. The command is `jobledger release`; docs/design/0006-release.md has the reasons.
//
// # Concurrency
//
// Run patches several pods at a time. One goroutine at a time calls Config.Tell and Config.Note.
package release

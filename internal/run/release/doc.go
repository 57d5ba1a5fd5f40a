// Package release removes from the cluster what Jobledger left there, so that Jobledger can be uninstalled: tracking
// finalizers and Leases. It reads only the cluster, so it works after the controller and its log are gone. Invariants:
//
//   - It begins only when no Lease of ours is being renewed: a running controller would lose count of its pods.
//   - A patch carries the pod's UID, and removes only the finalizers. It is safe to run it again.
//   - The built-in controller's finalizer is removed only from pods of finished Jobs, unless it is named: no count
//     depends on those.
//   - One object that fails does not hold up the others. A second look, not the answers, finds what remains.
//   - A dry run only reads, and reports the same objects.
//
// Start at [Run]. The command is `jobledger release`; docs/design/0006-release.md has the reasons.
//
// # Concurrency
//
// Run patches several pods at a time. One goroutine at a time calls Config.Tell and Config.Note.
package release

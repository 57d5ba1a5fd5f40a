// Package release takes off the cluster what Jobledger left there, so that it can go: tracking finalizers and Leases.
// It reads the cluster alone, so it works when the controller and its log are gone. Invariants:
//
//   - It begins only when no Lease of ours is being renewed: a controller that runs would lose count of its pods.
//   - A patch carries the pod's UID, and removes nothing but the finalizers. To run it again is safe.
//   - The built-in controller's finalizer goes from pods of finished Jobs alone, unless it is named: no count rests on those.
//   - One object that fails does not hold up the others. What remains is found by a second look, not by the answers.
//   - A dry run sends nothing but reads, and names the same objects.
//
// Start at [Run]. The command is `jobledger release`; docs/design/0006-release.md says why it is as it is.
//
// # Concurrency
//
// Run patches several pods at a time. Config.Tell and Config.Note are called by one goroutine at a time.
package release

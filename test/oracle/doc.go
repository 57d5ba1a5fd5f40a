// Package oracle compares Jobledger ("ours") with the Job and CronJob controllers of Kubernetes ("upstream").
//
// A [Scenario] is a list of Jobs and of timed actions: users edit and delete, kubelets report, policies refuse
// requests, watches lag, controllers are killed. [Generate] makes a random one from a number, its seed. Upstream
// (k8s.io/kubernetes/pkg/controller/job, unchanged) and ours (the real loop and executor) play the same scenario, each
// on a simulated API server of its own. A [Picture] shows the final state of such a cluster, a line for each fact: the
// Jobs' statuses, the pods, the Kubernetes Events. Both pictures must be equal, except for the differences that
// [Allowed] lists, each with its rule.
//
// Invariants:
//
//   - The checker of the simulation (internal/dev/sim/invariants) checks each write of ours. A broken promise fails the
//     test, even if both pictures are equal.
//   - A scenario can be written as text ([Parse], [Scenario.String]), and the same seed gives the same text.
//   - An action names pods by Job, index and age, never by name, so it reaches the same pod in both clusters.
//   - Upstream runs in a testing/synctest bubble. Its clock and that of its API server show the same time.
//   - Actions of one step happen at once: neither controller acts between two of them.
//   - Upstream's goroutines run in any order, so several pictures are possible. Each of them is right; see judge.go.
//   - Some allowed differences leave the controllers with different work, for example if a Job has ended in one cluster
//     only. After such a difference, all later ones are allowed, too; see [Difference].Parts.
//
// Scenarios with CronJobs are played with k8s.io/kubernetes/pkg/controller/cronjob. No controller runs the CronJobs'
// Jobs; actions of the scenario write the status of these Jobs. The picture also lists every write of the CronJob
// controller, with its second. Some CronJob rules of ours demand something else than upstream does. If no allowed
// difference explains why the pictures differ, upstream plays the scenario again, inside wrappers that make it follow
// these rules; see cronmends.go.
//
// An observer (ours with --manage=observe, which changes nothing) also watches upstream's cluster. Its reports must be
// true; see observe.go.
//
// Read scenario.go first, then cluster.go, upstream.go, ours.go, picture.go and allowed.go. For CronJobs, read
// cronjob.go, crondeeds.go, cronpicture.go, cronmends.go and cronfamilies.go.
//
// # Concurrency
//
// One test goroutine plays one scenario. Upstream's goroutines meet the cluster under its lock (transport.go).
package oracle

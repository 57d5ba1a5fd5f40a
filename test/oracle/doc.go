// Package oracle compares Jobledger ("ours") with the Job and CronJob controllers of Kubernetes ("upstream").
//
// A [Scenario] is a list of Jobs and of timed actions: users edit and delete, kubelets report, policies refuse
// requests, watches lag, controllers are killed. It is played twice, each time on a simulated API server of its own:
// once with k8s.io/kubernetes/pkg/controller/job, unchanged, and once with the real loop and executor. A [Picture]
// shows a cluster at rest, a line for each fact: the Jobs' statuses, the pods, the Kubernetes Events. Both pictures
// must be the same, except for the differences that [Allowed] lists, each with its rule.
//
// Invariants:
//
//   - The checker of the simulation (internal/dev/sim/invariants) checks each write of Jobledger. A broken promise
//     fails the seed, even if both controllers reach the same final state.
//   - A scenario is text ([Parse], [Scenario.String]), and the same seed gives the same text.
//   - An action names pods by Job, index and age, never by name, so it reaches the same pod in both clusters.
//   - Upstream runs in a testing/synctest bubble. Its clock and that of its API server show the same time.
//   - Actions of one step happen at once: neither controller acts between two of them.
//   - Upstream has goroutines, so it may reach several final states. Each of them is right; see judge.go.
//   - An intended difference can leave the two controllers with different work. Then every later difference follows
//     from it; see [Difference].Parts.
//
// A scenario with CronJobs is played with k8s.io/kubernetes/pkg/controller/cronjob. Its Jobs name another controller,
// and actions begin and end them. Its picture lists all that was done, with the second of each. Where the CronJob rules
// ask for something else than upstream does, upstream is played once more, changed to follow the rule; see
// cronmends.go.
//
// An observer (--manage=observe) also watches upstream's cluster: its reports must be true; see observe.go.
//
// Read scenario.go first, then cluster.go, upstream.go, ours.go, picture.go and allowed.go. For CronJobs, read
// cronjob.go, crondeeds.go, cronpicture.go, cronmends.go and cronfamilies.go.
//
// # Concurrency
//
// One test goroutine plays one scenario. Upstream's goroutines meet the cluster under its lock (transport.go).
package oracle

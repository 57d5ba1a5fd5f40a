// Package oracle compares Jobledger with the Job and CronJob controllers of Kubernetes themselves.
//
// A [Scenario] is a list of Jobs and of timed deeds: of users, of kubelets, of policies that refuse requests, of
// watches that lag, of controllers that are killed. It is played twice, each time on a simulated API server of its own:
// once with k8s.io/kubernetes/pkg/controller/job, whose sources are unchanged, and once with the real loop and
// executor. A [Picture] is what the outside sees of a cluster at rest, a line for each fact: the Jobs' statuses, the
// pods, the Kubernetes Events. Both pictures must be the same, but for the differences that [Allowed] lists, each with
// its rule.
//
// What holds:
//
//   - Ours is watched at every write, by the referee that the simulation has too (internal/dev/sim/invariants): a promise that it breaks
//     on the way fails the seed, though both come to one end.
//   - A scenario is text ([Parse], [Scenario.String]), and the same seed gives the same text.
//   - A deed names pods by Job, index and age, never by name, so it hits the same pod in both clusters.
//   - Upstream runs in a testing/synctest bubble. Its clock and that of its API server show the same time.
//   - Deeds of one step happen at once: neither controller acts between two of them.
//   - Upstream has goroutines, so it may come to several ends. Each of them is right; see judge.go.
//   - Where a difference on purpose leaves the two with other work to do, what differs later follows from it; see [Difference].Parts.
//
// A scenario with CronJobs is played with k8s.io/kubernetes/pkg/controller/cronjob. The Jobs name another controller,
// and begin and end by deeds. A picture has all that was done then, with the second of each. The rules of CronJobs ask
// for other than upstream does here and there, so upstream is played once more, arranged to do that; see cronmends.go.
//
// Upstream's cluster is also shown to an observer (--manage=observe): what that reports must be true; see observe.go.
//
// Read scenario.go first, then cluster.go, upstream.go, ours.go, picture.go and allowed.go; of CronJobs cronjob.go,
// crondeeds.go, cronpicture.go, cronmends.go and cronfamilies.go.
//
// # Concurrency
//
// One test goroutine plays one scenario. Upstream's goroutines meet the cluster under its lock (transport.go).
package oracle

// Package bench runs Jobledger and the built-in Job controller side by side on one real control plane and says what
// each workload cost: how long it took, which requests, how much CPU, memory and disk. `make bench` runs it, cmd/bench
// is the command, docs/performance.md has the answer and the method, docs/performance-history.md the tables.
//
// Rules of a fair comparison, which the code keeps:
//
//   - One controller runs at a time, in turn, each as a process of its own, with the same rights, the same priority at the
//     API server and no rate limit of its own. Both are warm: they have run a Job before the measuring begins.
//   - They run the very same Jobs: Jobledger in mode "all", in place of the built-in.
//   - Requests are counted by the API server (its audit log), CPU, memory and written bytes by the kernel (/proc).
//   - A workload is over when all its Jobs are finished, no pod has a finalizer, and the controller has come to rest. Then
//     every Job and every pod is listed and compared with what had to come out. A wrong answer is no result.
//   - Only ratios within one run are carried anywhere else.
//   - Nobody tunes to it: pods live as in a cluster, and how long each runs and whether it fails is drawn from a table by a seed. A figure
//     that was tuned with one seed is measured again with another, such as the date's.
//
// # Concurrency
//
// A Bench belongs to one goroutine. The stopwatch is told of pods and Jobs by several, and locks.
//
// Read next: setting.go for profiles, networks and places, fates.go for run times, workloads.go for what is run, run.go
// for how, figures.go for what is said of it.
package bench

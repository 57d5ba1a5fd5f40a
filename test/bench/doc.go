// Package bench runs Jobledger and the built-in Job controller side by side on one real control plane and reports the
// cost of each workload: time, requests, CPU, memory and disk. `make bench` runs it, and cmd/bench is the command.
// docs/performance.md has results and method, docs/performance-history.md the tables.
//
// Rules of a fair comparison, which the code keeps:
//
//   - One controller runs at a time, in turn, each in its own process, with the same rights, the same priority at the
//     API server and no client-side rate limit. Both are warm: they have run a Job before the measurement begins.
//   - They run the same Jobs: Jobledger in mode "all", in place of the built-in.
//   - The API server counts requests (its audit log); the kernel counts CPU, memory and written bytes (/proc).
//   - A workload is over when all its Jobs are finished, no pod has a finalizer, and the controller has come to rest.
//     Then every Job and every pod is compared with what was expected. A wrong outcome has no figures.
//   - Only ratios within one run are used anywhere else.
//   - The result must not be tuned. Pods live as in a cluster: a seed draws from a table how long each runs and whether
//     it fails. A figure that was tuned with one seed is measured again with another, such as the date's.
//
// # Concurrency
//
// A Bench belongs to one goroutine. Several goroutines report pods and Jobs to the stopwatch, which locks.
//
// Read next: setting.go for profiles, networks and places, fates.go for run times, workloads.go for the workloads,
// run.go for their execution, figures.go for the figures.
package bench

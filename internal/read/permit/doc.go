// Package permit limits a log to the part that one user may read: the records and rows of one namespace.
//
//	src := permit.Namespace(log, permit.Right{Namespace: "prod", Since: created})
//	answer, err := ask.Explain.New()... .Ask(ctx, ask.Source{Source: src, Note: note})
//
// The result is a history.Source. Every answer that is made from it uses only the records that it lets through. This
// includes comparisons with other Jobs, totals such as "of 28 Jobs", gaps, and suggested names. It lets through
//
//   - records of Jobs, CronJobs and pods of the namespace. It leaves out an object that is older than the namespace,
//     because that object belonged to an earlier namespace of the same name;
//   - records of the controller, without their parts about other namespaces and objects there, and records of nodes;
//   - the rules of time zones, which name no object.
//
// A record that is left out only shows as a missing number. The answers are those of a log with this namespace alone,
// except for the numbers. The end of the log is that of the whole log.
//
// # Limits
//
// Times of creation are whole seconds. If an earlier namespace of the name had a Job that was created in the very
// second in which the new namespace was, the Job is let through. If a Job of the earlier namespace stored a spec that a
// Job of the new one uses, the record with the spec can be read by its number: both Jobs have the same spec.
//
// # Concurrency
//
// A Source is safe for concurrent use.
package permit

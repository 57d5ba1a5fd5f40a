// Package permit limits a log to the part that one user may read: the records of one namespace.
//
//	src := permit.Namespace(log, permit.Right{Namespace: "prod", Since: created})
//	answer, err := question.Ask(ctx, ask.Source{Source: src, Note: note, Behind: note, Clock: time.Now})
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
// second in which the new namespace was created, the user can read that Job. A spec is stored once for all Jobs that
// have it. If a Job of the new namespace has the spec of an older Job, the user can read the older record with the
// spec, by its number.
//
// # Concurrency
//
// A Source is safe for concurrent use.
package permit

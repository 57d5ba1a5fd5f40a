// Package permit gives the part of a log that somebody may read: the records and rows of one namespace.
//
//	src := permit.Namespace(log, permit.Right{Namespace: "prod", Since: created})
//	answer, err := ask.Explain.New()... .Ask(ctx, ask.Source{Source: src, Note: note})
//
// It is a history.Source, so every question, page and picture that is answered from it counts what it lets through and
// nothing else: other failed Jobs, what a Job freed, "of 28 Jobs", gaps, and names that are offered instead of another.
// It lets through
//
//   - records of Jobs, CronJobs and pods of the namespace. An object that is older than the namespace belonged to another
//     one of that name, and is left out;
//   - records of the controller, without what they say of other namespaces and their objects, and those of nodes;
//   - the rules of time zones, which name no object.
//
// A record that is left out is a number that is missing: the answers are those of a log that has only that namespace,
// but for the numbers. The end of the log is that of the whole log.
//
// # Limits
//
// Times of creation are whole seconds: a Job of the namespace before that was made in the very second in which the new
// one was, is let through. A spec that a Job of the namespace before stores, and that one of this uses, is given when it
// is asked for by number: both have the same content.
//
// # Concurrency
//
// A Source is safe for concurrent use.
package permit

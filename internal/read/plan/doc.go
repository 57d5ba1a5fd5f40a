// Package plan prepares a move to Jobledger, from a log in which Jobledger observed a cluster without writing to it. It
// lists whose future Jobs Jobledger could run, what to set for that, and which of its decisions would differ from those
// of the present controller.
//
//	p, err := plan.Read(ctx, src, plan.Query{Namespace: "prod"})
//
// A Job keeps its controller, because spec.managedBy cannot change. The plan is therefore about owners, such as
// CronJobs: an owner that has created Jobs will create more.
//
// # Concurrency
//
// Nothing here is safe for concurrent use.
package plan

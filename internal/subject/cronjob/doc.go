// Package cronjob computes the state of a CronJob from its records:
//
//	var c cronjob.CronJob
//	c.Begin(stream, &settings, zones, watch)
//	c.Apply(record)
//
// The state has the CronJob's object, its Jobs ([Run]), the ledger (what became of each due time), and what the current
// pass, which corresponds to one reconcile, has done ([CronPass]). [Zones] holds the rules of time zones for all
// CronJobs. [Watch] holds the times at which no CronJob was watched.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read cronjob.go first, then fold.go.
package cronjob

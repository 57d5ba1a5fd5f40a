// Package cronjob folds records into the state of a CronJob:
//
//	var c cronjob.CronJob
//	c.Begin(stream, &settings, zones, watch)
//	c.Apply(record)
//
// A CronJob has its object, its Jobs ([Run]), the ledger of its due times, and what the current pass has done
// ([CronPass]). [Zones] holds the rules of time zones for all CronJobs. [Watch] holds the times at which no CronJob was
// watched.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read cronjob.go first, then fold.go.
package cronjob

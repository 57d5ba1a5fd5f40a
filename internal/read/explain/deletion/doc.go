// Package deletion says who deleted a Job, or pods of it that had not ended: Jobledger, the CronJob's controller,
// garbage collection, a namespace, or an API client, whom no record names.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read job.go first, then pods.go.
package deletion

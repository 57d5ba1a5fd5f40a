// Package deletion says who deleted a Job, or pods of it that had not ended: Jobledger, the CronJob's controller,
// garbage collection, the deletion of the namespace, or an API client. No record names the API client.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read job.go first, then pods.go.
package deletion

// Package croncase reads the newest part of a CronJob's records into a [Case]: its due times, its Jobs, its
// templates, and the edits meanwhile. Package cron answers from it.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
package croncase

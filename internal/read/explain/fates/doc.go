// Package fates says what became of the due times of a CronJob, and why: started, held back, refused, merged, or
// not watched. [Fates.Became] judges a due time that Jobledger was to start, and one that another controller was to
// start by the rules of the built-in one.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read fates.go first, then fate.go and elsewhere.go.
package fates

// Package fates says what became of the due times of a CronJob, and why: started, held back, refused, merged, or not
// watched. [Fates.Became] does so for a due time that Jobledger had to start. For one that another controller had to
// start, it uses the rules of the built-in controller.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read fates.go first, then fate.go and elsewhere.go.
package fates

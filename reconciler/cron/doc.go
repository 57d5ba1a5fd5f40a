// Package cron has the rules of a CronJob: which due time starts a run, which finished Jobs are deleted, and what the
// ledger of due times says of each:
//
//	d := cron.Decide(c, c.Time())
//
// rules.go lists the stages and their rules, in order. One reconcile of the built-in controller takes several
// decisions here (C-100).
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read rules.go first.
package cron

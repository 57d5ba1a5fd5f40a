// Package cron has the rules of a CronJob: which due time starts a run, which finished Jobs are deleted, and what is
// recorded about each due time:
//
//	d := cron.Decide(c, c.Time())
//
// rules.go lists the stages and their rules, in order. One reconcile of the built-in controller is called a pass here,
// and takes several decisions (C-100).
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read rules.go first.
package cron

// Package rules decides what to do for a Job or CronJob, and gives the reason.
//
// Given a projected Job that wants 3 pods and has 1, [Decide] returns one step:
//
//	stage "pods", rule "create", reason MorePodsWanted, commands: CreatePod, CreatePod
//
// It hands a CronJob to package cron, and every other subject to package job: the rules are there, in job/rules.go and
// cron/rules.go. Package reconciler has the invariants.
package rules

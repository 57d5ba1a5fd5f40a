// Package rules decides what to do for a Job or CronJob, and gives the reason.
//
// Given a projected Job that wants 3 pods and has 1, [Decide] returns one step:
//
//	stage "pods", rule "create", reason MorePodsWanted, commands: CreatePod, CreatePod
//
// It passes a CronJob to package cron, and every other subject to package job. Those packages have the rules
// (job/rules.go and cron/rules.go). Package reconciler states the invariants of decisions.
package rules

// Package cronjobs has Jobledger and the built-in CronJob controller run the same CronJobs in the same minutes, each on
// a control plane of its own, and compares what comes of it: the Jobs that were made, by name, with all that is in
// them, and the statuses at rest.
//
// The CronJobs are random, and so is what users do to them. Both controllers are killed now and then, sometimes across
// a due time. The Jobs are managed by the test (spec.managedBy): it ends those of one name at the same time on both
// sides, so what differs is the CronJob controllers' doing. Clocks are real. A minute has four phases, and at the end
// of each both sides must be at rest and alike:
//
//	:00  CronJobs fall due
//	:24  the test ends Jobs, which frees what Forbid holds back
//	:36  users edit, suspend, delete, make Jobs by hand
//	:50  both controllers are killed, in some minutes
//
// It takes minutes, of which most is waiting for the clock; so it is played with JOBLEDGER_LONG alone. JOBLEDGER_SEED
// plays another one, or one again: the schedules are relative to the time of day, so it is the same as far as that
// matters.
package cronjobs

// Package cronjobs runs the same CronJobs in the same minutes with Jobledger and with the built-in CronJob controller,
// each on its own control plane, and compares the results: the Jobs that were created, by name and with all their
// fields, and the statuses when nothing happens any more.
//
// The CronJobs are random, and so are the actions of users. Both controllers are killed now and then, sometimes across
// a due time. The test itself runs the Jobs (spec.managedBy): it ends Jobs of the same name at the same time on both
// sides, so all differences come from the CronJob controllers. Clocks are real. A minute has four phases, and at the
// end of each, both sides must be idle and equal:
//
//	:00  CronJobs fall due
//	:24  the test ends Jobs, which frees what Forbid holds back
//	:36  users edit, suspend, delete, make Jobs by hand
//	:50  both controllers are killed, in some minutes
//
// It takes minutes, mostly to wait for the clock, so it needs JOBLEDGER_LONG. JOBLEDGER_SEED selects a run. The
// schedules are relative to the time of day, so a repeated run is the same in all that matters.
package cronjobs

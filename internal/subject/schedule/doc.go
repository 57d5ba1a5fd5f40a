// Package schedule says when a CronJob is due: it reads the text of its schedule (C-020 to C-035), finds instants
// (C-060 to C-062), and picks the one that is due as the built-in controller does (C-070 to C-089).
//
// The grammar is that of robfig/cron v3.0.1, and so are the instants. That library would load time zones from the
// machine; here it never does. Whoever asks brings the zones, which are data of the log: see [Zones].
//
// # Concurrency
//
// A Schedule does not change, and may be used from any goroutine.
package schedule

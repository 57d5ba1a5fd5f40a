// Package schedule computes when a CronJob is due. It parses the schedule (C-020 to C-035), computes due times (C-060
// to C-062), and picks the one to act on like the built-in controller (C-070 to C-089):
//
//	s, err := schedule.Parse("0 3 * * *", zone, zones)
//	due, err := s.Due(anchor, now)   // the latest 03:00 after anchor, up to now
//	next := s.Next(now)              // the next 03:00
//
// Grammar and due times are those of robfig/cron v3.0.1. That library would load time zones from the machine; here the
// caller provides them from the log: see [Zones].
//
// # Concurrency
//
// A Schedule is immutable and safe for concurrent use.
package schedule

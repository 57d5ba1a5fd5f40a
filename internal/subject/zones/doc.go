// Package zones embeds a time zone database: zoneinfo.zip of the Go distribution, from which the standard library's
// time/tzdata is made. (That package returns a zone, not its rules, and the machine's database takes precedence there.)
// The rules of a zone become a record of the log when a CronJob first uses the zone; decisions never read the database.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package zones

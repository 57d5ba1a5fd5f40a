// Package zones embeds a time zone database: zoneinfo.zip of the Go distribution, the source of the standard library's
// time/tzdata. (That package returns a zone, not its rules, and reads the machine's database first.) The rules of a
// zone become a record of the log when the zone comes into use; decisions never read the database.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package zones

// Package zones has the time zone database that this program brings along: zoneinfo.zip of the Go distribution, from
// which the standard library's time/tzdata is made. (That package gives a zone, not its rules, and asks the machine
// first.) The rules of a zone that is in use become a record of the log, so it is read when a zone comes into use, and
// never by a decision.
//
// # Concurrency
//
// Its functions may be called from any goroutine.
package zones

// Command alertwatch scrapes one target and evaluates the alerts of a rule file, by Prometheus's own parser, store and
// rule engine. It writes a line of JSON for each alert that changes its state:
// {"time":…,"alert":…,"labels":{…},"state":"pending"}.
//
// A scrape that fails, or that lacks a series which the one before had, makes the series stale, as in Prometheus.
//
// # Concurrency
//
// There is one goroutine. It ends with the process.
package main

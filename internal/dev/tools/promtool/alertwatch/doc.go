// Command alertwatch scrapes one target and evaluates the alerts of a rule file, with Prometheus's own parser, store
// and rule engine. For each alert that changes its state it writes a line of JSON:
// {"time":…,"alert":…,"labels":{…},"state":"pending"}.
//
// A series becomes stale when a scrape fails or lacks it, as in Prometheus.
//
// # Concurrency
//
// There is one goroutine. It ends with the process.
package main

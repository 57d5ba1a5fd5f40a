// Command jobledger is a Kubernetes Job controller whose memory is a log, and the tools that read that log.
//
// This package reads flags, connects the parts, and waits; the packages of the parts document what they do. Each
// subcommand that reads a log has its own file here; the others are in cmd/acting. Reading commands take their records
// from a history.Source, so they work the same on a log directory that no process writes and beside the controller that
// writes it (cmd/cli chooses). Exit codes: 0 for success, 1 for failure (the object is not found, the log is damaged, a
// replay differs), 2 for an invalid command line.
//
// Read main.go and root.go, then get.go; what all commands share is in cmd/cli.
package main

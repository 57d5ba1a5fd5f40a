// Command jobledger is a Kubernetes Job controller whose memory is a log, and the tools that read that log.
//
// This package reads flags, ties the parts, and waits; what the parts do is theirs to say. There is one file for each
// subcommand that reads a log; those that do more are in cmd/acting. Commands that read take their records from a
// history.Source, so they do the same on a log directory that nobody writes and beside the controller that writes it
// (cmd/cli chooses). Exit codes: 0 for success, 1 for failure (what was looked for is not there, the log is damaged, a
// replay differs), 2 for a command that cannot be understood.
//
// Read main.go and root.go, then get.go; what all commands share is in cmd/cli.
package main

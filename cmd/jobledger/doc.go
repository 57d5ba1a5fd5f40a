// Command jobledger is a Kubernetes Job controller whose memory is a log, with the tools that read the log.
//
// This package reads flags, connects the parts, and waits; the packages of the parts document what they do. Each
// subcommand that reads a log has a file here; the other subcommands are in cmd/acting. Reading commands get their
// records from a history.Source. So they work in the same way on a log that no process writes, and on a log that a
// controller is writing (cmd/cli chooses the source). Exit codes: 0 for success, 1 for failure (the object is not
// found, the log is damaged, a replay differs), 2 for a command line that is not valid.
//
// Read main.go and root.go first, then get.go. What all commands share is in cmd/cli.
package main

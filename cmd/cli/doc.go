// Package cli has what all commands share: output and its formats, access to logs, asking questions, and errors about
// the command line. A [CLI] is one run of the program.
//
//	src, _, err := flags.Job.Source.Open(ctx, c)
//
// The commands themselves are in cmd/jobledger and cmd/acting, each in a file of its own.
//
// # Concurrency
//
// A CLI belongs to one goroutine. [Reading] is safe for concurrent use.
package cli

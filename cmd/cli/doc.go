// Package cli is what the commands share: the output and its formats, access to logs, asking questions, and messages
// about a wrong command line. A [CLI] is one run of the program.
//
//	src, _, err := flags.Job.Source.Open(ctx, c)
//
// The commands themselves are in cmd/jobledger and cmd/acting, one file each.
//
// # Concurrency
//
// A CLI belongs to one goroutine. [Reading] is safe for concurrent use.
package cli

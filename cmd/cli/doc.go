// Package cli is what the commands share: where output goes and in which form, where a log is read, how a question is
// put, and what is said of a command line that cannot be understood. A [CLI] is one run of the program.
//
//	src, _, err := flags.Job.Source.Open(ctx, c)
//
// The commands themselves are in cmd/jobledger and cmd/acting, one file each.
//
// # Concurrency
//
// A CLI belongs to one goroutine. [Reading] is safe for concurrent use.
package cli

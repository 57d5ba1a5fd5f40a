// Package pinned holds the log against older programs: the oldest commit whose logs are still read is built from this
// repository's history, reads a log that today's code writes, and refuses one that needs a newer reader, in words.
// [Build] builds the program of a commit, also for other tests; [First] and [FirstWith] find one. No commit before
// [First] is built: nobody reads the logs of those programs.
package pinned

// Package pinned holds the log against older programs: the first commit whose program knows of least readers is built from this
// repository's history, reads a log that today's code writes, and refuses one that needs a newer reader, in words. [Build]
// builds the program of a commit, also for other tests, and [FirstWith] finds one.
package pinned

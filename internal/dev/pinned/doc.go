// Package pinned tests logs against older programs. It builds the oldest commit whose logs are still read, from the
// history of this repository. That program must read a log of today's code, and must refuse, with a clear message, a
// log that needs a newer reader. [Build] builds the program of a commit, also for other tests; [First] and [FirstWith]
// find a commit. Commits before [First] are not built, because no logs of those programs exist.
package pinned

package main

import (
	"os"
	"runtime/debug"
)

// collectorPercent is how much the heap may grow, in percent of what is alive, before the garbage collector runs. What is
// alive is small here, a few MiB, and what the API client throws away is much, so that at Go's 100 the collector takes a
// quarter to a third of the CPU time (docs/performance.md); at 300 a busy controller takes some 20 MiB more.
const collectorPercent = 300

// tuneCollector sets it, unless the operator has chosen with GOGC.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
}

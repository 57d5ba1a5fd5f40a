package controller

import (
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
)

// The limits within which the garbage collector is tuned. A controller has a small live heap, and its API client makes
// much garbage. At Go's default GOGC=100 the collector takes a sixth (one large Job) to a third (many small ones) of
// the CPU time; see docs/performance-history.md. So GOGC is chosen so that about collectorRoom (24 MiB) of garbage
// gathers between two collections, but never less than one live heap and never more than three:
//
// GOGC=300 for a live heap of 4 MiB (12 MiB of garbage), GOGC=200 for 12 MiB (24 MiB), GOGC=100 for 48 MiB (48 MiB).
const (
	collectorRoom = 24 << 20
	leastPercent  = 100
	mostPercent   = 300
)

// tuneCollector reduces how often the garbage collector runs; it is called after the first listing of the cluster. It
// gives the memory that the listing needed back to the operating system. From then on GOGC is set after each
// collection, unless the operator has set GOGC.
func tuneCollector() {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") == "" {
		tuning.Do(followCollector)
	}
}

var tuning sync.Once

// followCollector sets GOGC to suit the size of the live heap, now and again after each collection.
func followCollector() {
	alive := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(alive)
	debug.SetGCPercent(collectorPercent(alive[0].Value.Uint64()))
	runtime.SetFinalizer(&collected{}, func(*collected) { followCollector() })
}

// collected is allocated and dropped at once: its finalizer, which runs after the next collection, calls
// followCollector.
type collected struct{ _ *collected }

// collectorPercent returns the GOGC value for a heap of alive bytes in use.
func collectorPercent(alive uint64) int {
	percent := 100 * collectorRoom / max(alive, 1)
	return int(min(max(percent, leastPercent), mostPercent))
}

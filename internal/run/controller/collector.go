package controller

import (
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
)

// The limits of the garbage collector's tuning. A controller has a small live heap, and its API client makes much
// garbage. At Go's default GOGC=100 the collector takes a sixth (one large Job) to a third (many small ones) of the CPU
// time; see docs/performance-history.md. So about collectorRoom bytes of garbage may accumulate between two
// collections. The limits on GOGC keep that between one and three times the live heap.
//
// live heap 4 MiB: GOGC=300, 12 MiB of garbage 12 MiB: GOGC=200, 24 MiB 48 MiB: GOGC=100, 48 MiB
const (
	collectorRoom = 24 << 20
	leastPercent  = 100
	mostPercent   = 300
)

// tuneCollector is called after the first listing of the cluster. It returns the memory that the listing needed to the
// system. From then on it sets GOGC after each collection, unless the operator has set GOGC.
func tuneCollector() {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") == "" {
		tuning.Do(followCollector)
	}
}

var tuning sync.Once

// followCollector sets GOGC by the live heap, now and after each collection.
func followCollector() {
	alive := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(alive)
	debug.SetGCPercent(collectorPercent(alive[0].Value.Uint64()))
	runtime.SetFinalizer(&collected{}, func(*collected) { followCollector() })
}

// collected is an object that nothing refers to: its finalizer runs after the next collection.
type collected struct{ _ *collected }

// collectorPercent returns the GOGC value for a heap of alive bytes in use.
func collectorPercent(alive uint64) int {
	percent := 100 * collectorRoom / max(alive, 1)
	return int(min(max(percent, leastPercent), mostPercent))
}

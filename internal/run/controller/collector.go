package controller

import (
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
)

// What is alive in a controller is small, and what its API client throws away is much, so that at Go's GOGC=100 the
// collector takes a sixth (one large Job) to a third (many small ones) of the CPU time; see
// docs/performance-history.md. So garbage may take up to collectorRoom bytes before it is collected, but not more than
// three times what is alive, and at least as much as is alive, which is Go's own rule.
const (
	collectorRoom = 24 << 20
	leastPercent  = 100
	mostPercent   = 300
)

// tuneCollector gives back to the system what listing the cluster took, which no Job that is finished needs again. From
// here on it says after each collection how much garbage there may be before the next, unless the operator has chosen
// with GOGC.
func tuneCollector() {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") == "" {
		tuning.Do(followCollector)
	}
}

var tuning sync.Once

// followCollector sets how much garbage there may be, now and after each collection.
func followCollector() {
	alive := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(alive)
	debug.SetGCPercent(collectorPercent(alive[0].Value.Uint64()))
	runtime.SetFinalizer(&collected{}, func(*collected) { followCollector() })
}

// collected is garbage, so that its finalizer runs after the next collection.
type collected struct{ _ *collected }

// collectorPercent is the GOGC for a heap with that many live bytes.
func collectorPercent(alive uint64) int {
	percent := 100 * collectorRoom / max(alive, 1)
	return int(min(max(percent, leastPercent), mostPercent))
}

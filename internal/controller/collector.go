package controller

import (
	"os"
	"runtime"
	"runtime/debug"
)

// What is alive in a controller is small, and what its API client throws away is much, so that at Go's GOGC=100 the
// collector takes a sixth (one large Job) to a third (many small ones) of the CPU time; see docs/performance.md. So garbage
// may take up to collectorRoom bytes before it is collected, but not more than three times what is alive, and at least as
// much as is alive, which is Go's own rule.
const (
	collectorRoom = 48 << 20
	leastPercent  = 100
	mostPercent   = 300
)

// tuneCollector gives back to the system what listing the cluster took, which no Job that is finished needs again, and
// sets how much garbage there may be, unless the operator has chosen with GOGC.
func tuneCollector() {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") != "" {
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetGCPercent(collectorPercent(m.HeapAlloc))
}

// collectorPercent is the GOGC for a heap with that many live bytes.
func collectorPercent(alive uint64) int {
	percent := 100 * collectorRoom / max(alive, 1)
	return int(min(max(percent, leastPercent), mostPercent))
}

package controller

import (
	"runtime"
	runtimemetrics "runtime/metrics"
	"testing"
)

func TestGarbageHasRoomWhileLittleIsAlive(t *testing.T) {
	for _, row := range []struct {
		name  string
		alive uint64
		want  int
	}{
		{name: "nothing is alive", alive: 0, want: 300},
		{name: "a few Jobs", alive: 8 << 20, want: 300},
		{name: "a large Job", alive: 12 << 20, want: 200},
		{name: "a large cluster has Go's own rule", alive: 1 << 30, want: 100},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := collectorPercent(row.alive); got != row.want {
				t.Errorf("GOGC is %d, want %d", got, row.want)
			}
		})
	}
}

// TestRoomForGarbageFollowsWhatIsAlive: it is set anew after each collection, not once for all.
func TestRoomForGarbageFollowsWhatIsAlive(t *testing.T) {
	followCollector()
	func() {
		alive := make([]byte, 4*collectorRoom)
		untilPercent(t, leastPercent)
		runtime.KeepAlive(alive)
	}()
	untilPercent(t, mostPercent)
}

// untilPercent collects garbage until the collector works with that GOGC. What sets it runs beside, after a collection.
func untilPercent(t *testing.T, want uint64) {
	t.Helper()
	now := []runtimemetrics.Sample{{Name: "/gc/gogc:percent"}}
	for range 1000 {
		runtime.GC()
		if runtimemetrics.Read(now); now[0].Value.Uint64() == want {
			return
		}
		runtime.Gosched()
	}
	t.Fatalf("GOGC is %d after a thousand collections, want %d", now[0].Value.Uint64(), want)
}

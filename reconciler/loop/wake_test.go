package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/replay"
)

// TestMoreWaitsAreOverThanOneTurnWakes: the waits of many Jobs end at once. One turn wakes as many Jobs as it may, and
// the next turn the others. A replay does not report the Jobs of the second turn as forgotten. It does report a Job
// without records after its wait.
func TestMoreWaitsAreOverThanOneTurnWakes(t *testing.T) {
	const more = 100
	m := newMachine(t)
	m.do("start mode=all ttl")
	m.do("synced")
	for n := range reconciler.MostWoken + more {
		m.do(fmt.Sprintf("job job-%04d finished=Complete ttl=60", n))
	}
	m.do("wait 10m")
	m.check()

	var log, forgotten []events.Record
	var woken []int // how many Jobs each turn woke that woke any
	n := 0
	for rec, err := range m.log.Read(t.Context(), 1) {
		m.must(err)
		log = append(log, rec)
		if rec.Kind == events.KindTimerFired {
			n++
		}
		if rec.Last && n > 0 {
			woken, n = append(woken, n), 0
		}
	}
	if want := []int{reconciler.MostWoken, more}; !slices.Equal(woken, want) {
		t.Fatalf("the turns woke %d Jobs, want %d", woken, want)
	}
	last := slices.IndexFunc(log, func(rec events.Record) bool { return rec.Last && rec.Time == m.now })
	victim := log[slices.IndexFunc(log[last+1:], func(rec events.Record) bool { return rec.Kind == events.KindTimerFired })+last+1].Stream
	for i := range log {
		if i <= last || log[i].Stream != victim {
			forgotten = append(forgotten, log[i])
		}
	}
	r := replay.New()
	var found []replay.Divergence
	for _, rec := range forgotten {
		divergences, err := r.Record(rec)
		m.must(err)
		found = append(found, divergences...)
	}
	if len(found) != 1 || !strings.Contains(found[0].String(), "a wait was over, and no decision was recorded") {
		t.Errorf("a replay of a log that forgets one Job finds %v", found)
	}
}

package loop_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestACronJobIsStatedWhole: a CronJob has so many Jobs that its state exceeds what a turn may add. Its state is stored
// whole all the same: before its first record in a file, or in a turn of its own if it has no record. The file stands
// alone in the end.
func TestACronJobIsStatedWhole(t *testing.T) {
	m := newMachine(t)
	m.restateBytes = 1 << 10
	for _, command := range []string{"at 2026-03-02T08:10", "start cronjobs", "cronjob busy keepSucceeded=99", "cronjob idle keepSucceeded=99"} {
		m.do(command)
	}
	for n := range 40 {
		m.do(fmt.Sprintf("run busy-%d Complete", n))
		m.do(fmt.Sprintf("run idle-%d Complete", n))
	}
	for _, command := range []string{"synced", "file", "cronjob busy keepFailed=2", "wait 1s", "wait 1s", "wait 1s"} {
		m.do(command)
	}
	m.check()
	m.checkFiles()
	newest, alone := m.loop.World().Restated()
	if newest != alone || newest < 80 {
		t.Errorf("the newest file begins with record %d, the newest that stands alone with %d", newest, alone)
	}
	states := map[events.Stream]int{}
	for rec, err := range m.log.Read(t.Context(), newest) {
		m.must(err)
		if rec.Kind == events.KindStateStored {
			states[rec.Stream]++
		}
	}
	for _, name := range []string{"busy", "idle"} {
		if n := states[events.CronJobStream(m.crons[name].Job.UID)]; n != 1 {
			t.Errorf("the file has %d states of %s", n, name)
		}
	}
}

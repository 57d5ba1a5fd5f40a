package loop_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// TestTheEndOfAnAdoptionCostsTheSameAmongManyPodsThatNobodyOwns: a Job was deleted without its pods. Another Job with
// its selector adopts all of them (J-175). The test counts allocations, which do not depend on the machine (design
// §3).
func TestTheEndOfAnAdoptionCostsTheSameAmongManyPodsThatNobodyOwns(t *testing.T) {
	const ends = 100
	cost := func(pods int) float64 {
		m := newMachine(t)
		m.do(fmt.Sprintf("start at-once=%d", 2*ends))
		m.do("synced")
		m.do(fmt.Sprintf("job demo parallelism=%d completions=%d", pods, pods))
		for i := range pods {
			m.do(fmt.Sprintf("pod demo#%d owner=none candidates=demo untracked foreign phase=Running", i+1))
		}
		m.do("ended demo/0 done uid=uid-demo") // the Job is read
		at := events.CommandID{Decided: events.Sequence(m.newestDecision("demo"))}
		return testing.AllocsPerRun(ends-1, func() {
			m.turn(loop.Input{Result: &events.TaskResult{
				Stream: events.JobStream("uid-demo"), Ended: events.CommandEnded{Command: at, Ending: events.Withdrawn},
			}})
			at.Place++
		})
	}
	few, many := cost(3*ends), cost(20*ends)
	t.Logf("allocations for the end of one adoption: %v among %d pods, %v among %d", few, 3*ends, many, 20*ends)
	if many > 1.1*few {
		t.Errorf("the end of one adoption costs %v allocations among %d pods, %v among %d", many, 20*ends, few, 3*ends)
	}
}

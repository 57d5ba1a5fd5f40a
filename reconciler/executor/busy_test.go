package executor

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func TestAJobIsBusyWhileTwiceAsManyCreatesWaitAsMayBeInFlight(t *testing.T) {
	s := newScript(t)
	busy := func(job string) bool { return s.e.Busy(events.JobStream(types.UID(job))) }
	most := 2 * firstConcurrency
	for i := range most {
		s.submit("big", fmt.Sprint(i), events.PriorityBulk)
	}
	if busy("big") || busy("small") {
		t.Errorf("busy with %d creates, want it with more only", most)
	}
	s.submit("small", "0", events.PriorityBulk)
	s.submit("big", "urgent", events.PriorityUnblock)
	if busy("big") {
		t.Error("busy with what is not bulk")
	}
	s.submit("big", fmt.Sprint(most), events.PriorityBulk)
	if !busy("big") || busy("small") {
		t.Errorf("with %d creates: busy %v, want true; with one: %v, want false", most+1, busy("big"), busy("small"))
	}
	s.next()
	if busy("big") {
		t.Error("still busy when some of the creates are in flight")
	}
}

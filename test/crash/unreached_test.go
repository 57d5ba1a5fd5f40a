package crash

import (
	"strings"
	"testing"
)

// TestAPointThatIsNeverReachedIsToldAtOnce: if the controller never reaches its failpoint, the row ends with its Jobs,
// and does not wait for the time limit.
func TestAPointThatIsNeverReachedIsToldAtOnce(t *testing.T) {
	t.Parallel()
	x := newTrial(t)
	const point = "call.after.create-pod:1000"
	x.must(x.controller.Launch("JOBLEDGER_FAILPOINT=" + point))
	r := row{}
	x.createJobs(r.indexedJob())
	err := x.comesTo(point)
	if want := point + " was not reached: nothing is left to do"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the row ended with %v, want %q", err, want)
	}
}

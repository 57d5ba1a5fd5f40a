package lease

import (
	"testing"
	"testing/synctest"
	"time"
)

// O-023: a machine that was suspended has lost its Lease, though its own clock says that no time has passed. It holds
// the Lease again once a renewal that began afterwards has succeeded.
func TestASuspendedMachineHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := s.start(t, "a", Log{})
		a.leads(time.Second)
		time.Sleep(time.Minute)
		a.asleep.Store(int64(DefaultRenewDeadline) - int64(DefaultRetryPeriod) - int64(time.Second))
		if !a.Holds() {
			t.Error("a short sleep loses the Lease")
		}
		a.cut.Store(true) // until it is renewed
		a.asleep.Add(int64(DefaultDuration))
		if a.Holds() {
			t.Error("the machine slept past the Lease, and holds it")
		}
		work, end := a.Within(t.Context())
		defer end()
		if work.Err() == nil {
			t.Error("something may be begun that nobody may send")
		}
		a.cut.Store(false)
		time.Sleep(2 * DefaultRetryPeriod)
		if !a.Holds() || a.isLost() {
			t.Errorf("renewed after it woke: holds %t, lost %t", a.Holds(), a.isLost())
		}
		a.stop()
		if err := a.ends(); err != nil {
			t.Error(err)
		}
	})
}

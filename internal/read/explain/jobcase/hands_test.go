package jobcase

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestWhoRunsAJob: who ran it when, of those that ran it one after the other.
func TestWhoRunsAJob(t *testing.T) {
	c := &Case{Reigns: []Reign{{whentest.Seen(5, 5), OtherHands}, {whentest.Seen(10, 10), OurHands}, {whentest.Seen(20,
		20), UnseenHands}}}
	for at, want := range map[events.Sequence]bool{1: false, 5: false, 9: false, 10: true, 19: true, 20: false,
		30: false} {
		if got := c.OursAt(whentest.Seen(at, 0)); got != want {
			t.Errorf("ours at %d: %t", at, got)
		}
	}
	if (&Case{}).Reigning() != OurHands || c.Reigning() != UnseenHands || c.Ours() || !(&Case{}).OursAt(whentest.Seen(3,
		3)) {
		t.Error("nobody has it")
	}
	ours := &Case{Reigns: []Reign{{whentest.Seen(5, 5), OurHands}, {whentest.Seen(10, 10), OtherHands}, {whentest.Seen(20,
		20), OurHands}}}
	for at, want := range map[events.Sequence]bool{1: true, 10: true, 11: false, 30: false} {
		if got := ours.OursUntil(whentest.Seen(at, 0)); got != want {
			t.Errorf("ours until %d: %t", at, got)
		}
	}
	if c.OursUntil(whentest.Seen(1, 1)) { // the first reign is that from its beginning on
		t.Error("another's from its beginning is ours")
	}
	if m, is := c.Unseen(); !is || m != whentest.Seen(20, 20) {
		t.Errorf("not looked at since %v, %t", m, is)
	}
	if _, is := ours.Unseen(); is {
		t.Error("ours is not looked at")
	}
	if _, is := (&Case{Reigns: []Reign{{whentest.Seen(5, 5), UnseenHands}}}).Unseen(); is {
		t.Error("one that was never looked at is so since some time")
	}
	c.Gone = whentest.Seen(40, 40)
	if _, is := c.Unseen(); is {
		t.Error("one that is gone is not looked at")
	}
}

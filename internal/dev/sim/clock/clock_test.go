package clock

import (
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestItemsRunByDueTimeThenByOrderOfScheduling(t *testing.T) {
	c := New(start)
	var got []string
	note := func(name string) func() { return func() { got = append(got, name) } }
	c.Schedule(start.Add(2*time.Second), "late", note("late"))
	c.Schedule(start.Add(time.Second), "first", note("first"))
	c.Schedule(start.Add(time.Second), "second", func() {
		note("second")()
		c.Schedule(c.Now(), "child", note("child"))
	})
	if ran := c.Advance(time.Second); ran != 3 {
		t.Errorf("Advance ran %d items, want 3", ran)
	}
	if want := []string{"first", "second", "child"}; !slices.Equal(got, want) {
		t.Errorf("ran %v, want %v", got, want)
	}
	if !c.Now().Equal(start.Add(time.Second)) {
		t.Errorf("the clock shows %v", c.Now())
	}
	if !c.Step() || c.Step() {
		t.Error("exactly one item should have been left")
	}
	if !c.Now().Equal(start.Add(2 * time.Second)) {
		t.Errorf("Step left the clock at %v", c.Now())
	}
}

func TestStoppedItemDoesNotRun(t *testing.T) {
	c := New(start)
	ran := false
	item := c.Schedule(start.Add(time.Second), "x", func() { ran = true })
	other := c.Schedule(start.Add(time.Minute), "y", func() {})
	if !c.Stop(item) || c.Stop(item) || c.Stop(nil) {
		t.Error("Stop should succeed once")
	}
	c.Advance(2 * time.Second)
	if ran || c.Next() != other {
		t.Errorf("ran=%v, next=%v", ran, c.Next())
	}
}

func TestTimeNeverMovesBackwards(t *testing.T) {
	c := New(start)
	var at time.Time
	c.Schedule(start.Add(-time.Hour), "past", func() { at = c.Now() })
	c.AdvanceTo(start.Add(-time.Minute))
	if !at.Equal(start) || !c.Now().Equal(start) {
		t.Errorf("ran at %v, now %v", at, c.Now())
	}
}

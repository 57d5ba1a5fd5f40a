package clock

import (
	"container/heap"
	"time"
)

// Clock is a virtual clock. Only its methods move it. Create it with New.
type Clock struct {
	now time.Time
	// number of the next item; of two items with the same due time, the one with the lower number runs first
	next  uint64
	queue queue
}

// Item is a function that will run at an instant. It is queued until it ran or was stopped.
type Item struct {
	Due  time.Time
	Name string // a name for traces

	run   func()
	order uint64
	place int // position in the heap; -1 if the item is not queued
}

// New returns a clock that shows start and has nothing queued.
func New(start time.Time) *Clock { return &Clock{now: start} }

// Now returns the clock's present time.
func (c *Clock) Now() time.Time { return c.now }

// Schedule puts a function into the queue, to run at the time at; if that has passed, at the present time.
func (c *Clock) Schedule(at time.Time, name string, run func()) *Item {
	if at.Before(c.now) {
		at = c.now
	}
	c.next++
	item := &Item{Due: at, Name: name, run: run, order: c.next}
	heap.Push(&c.queue, item)
	return item
}

// Stop takes item out of the queue. It reports whether the item was in the queue. item may be nil.
func (c *Clock) Stop(item *Item) bool {
	if item == nil || item.place < 0 {
		return false
	}
	heap.Remove(&c.queue, item.place)
	return true
}

// Next returns the queued item that is due first; nil if there is none.
func (c *Clock) Next() *Item {
	if len(c.queue) == 0 {
		return nil
	}
	return c.queue[0]
}

// Step moves the clock to the time of the first queued item, and runs that item. It reports whether there was one.
func (c *Clock) Step() bool {
	if len(c.queue) == 0 {
		return false
	}
	item := heap.Pop(&c.queue).(*Item)
	c.now = item.Due
	item.run()
	return true
}

// Advance moves the clock by d, running every item that is due on the way, each at its own instant. It returns how
// many ran.
func (c *Clock) Advance(d time.Duration) int { return c.AdvanceTo(c.now.Add(d)) }

// AdvanceTo moves the clock to t as Advance does. If t has passed, the clock stays, and items that are due now still
// run.
func (c *Clock) AdvanceTo(t time.Time) int {
	if t.Before(c.now) {
		t = c.now
	}
	ran := 0
	for len(c.queue) > 0 && !c.queue[0].Due.After(t) {
		c.Step()
		ran++
	}
	c.now = t
	return ran
}

// queue is a heap of items, sorted by due time and then by the order in which they were scheduled.
type queue []*Item

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if !q[i].Due.Equal(q[j].Due) {
		return q[i].Due.Before(q[j].Due)
	}
	return q[i].order < q[j].order
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *queue) Push(x any) {
	item := x.(*Item)
	item.place = len(*q)
	*q = append(*q, item)
}

func (q *queue) Pop() any {
	old := *q
	item := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	item.place = -1
	return item
}

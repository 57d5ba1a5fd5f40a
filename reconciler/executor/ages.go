package executor

import (
	"container/heap"
	"time"

	"github.com/jobledger/jobledger/events"
)

// agedAfter is how long a task waits for a slot until it is aged. An eighth of the calls is for aged tasks, the oldest first, whatever
// their tier. So while the server takes what comes, no task waits for twice as long.
const agedAfter = time.Second

// ages finds the task that has waited longest. Tasks that have begun or were withdrawn are forgotten when they are met. It is not safe for
// concurrent use.
type ages struct {
	fresh []*item // whose wait has begun since the newest stamp
	lines map[events.Stream]*waiters
	first byAge // a heap of lines, none of them empty
}

// waiters are the tasks of one stream that wait for a slot, the oldest first.
type waiters struct {
	stream events.Stream
	items  fifo[*item]
}

// add takes a task whose wait begins.
func (a *ages) add(it *item) { a.fresh = append(a.fresh, it) }

// stamp notes the time at which waits began that have begun since it was called last.
func (a *ages) stamp(now events.Time) {
	for _, it := range a.fresh {
		it.since = now
		w := a.lines[it.task.Stream]
		if w == nil {
			w = &waiters{stream: it.task.Stream}
			a.lines[w.stream] = w
		}
		if w.items.push(it); w.items.len() == 1 {
			heap.Push(&a.first, w)
		}
	}
	clear(a.fresh)
	a.fresh = a.fresh[:0]
	a.forget()
}

// forget drops what waits no longer from the front.
func (a *ages) forget() {
	for len(a.first) > 0 && a.first[0].items.first().over() {
		a.advance()
	}
}

// advance drops the oldest task.
func (a *ages) advance() {
	w := a.first[0]
	if w.items.pop(); w.items.len() > 0 {
		heap.Fix(&a.first, 0)
		return
	}
	heap.Pop(&a.first)
	delete(a.lines, w.stream)
}

// take is the oldest aged task of a stream that may have another call in flight; nil when there is none.
func (a *ages) take(now events.Time, may func(events.Stream) bool) *item {
	var held []*waiters // of streams that may not: one or two, as each has most of the slots
	defer func() {
		for _, w := range held {
			heap.Push(&a.first, w)
		}
	}()
	for a.forget(); len(a.first) > 0; a.forget() {
		w := a.first[0]
		it := w.items.first()
		switch {
		case now < it.since.Add(agedAfter):
			return nil
		case may(w.stream):
			a.advance()
			return it
		}
		heap.Pop(&a.first)
		held = append(held, w)
	}
	return nil
}

// byAge is a heap of lines by the age of their oldest task.
type byAge []*waiters

func (h byAge) Len() int { return len(h) }

func (h byAge) Less(i, j int) bool {
	a, b := h[i].items.first(), h[j].items.first()
	return a.since < b.since || (a.since == b.since && byName(a.task.Name, b.task.Name) < 0)
}

func (h byAge) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *byAge) Push(w any) { *h = append(*h, w.(*waiters)) }

func (h *byAge) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return w
}

package loop

import (
	"container/heap"
	"time"

	"github.com/jobledger/jobledger/events"
)

// wakes is when each stream is to be decided again. It is derived: decisions of the same state ask for the same times.
type wakes struct {
	at   map[events.Stream]events.Time
	heap wakeHeap // may hold entries that are no longer in force; at decides
}

type wake struct {
	at     events.Time
	stream events.Stream
}

func newWakes() wakes { return wakes{at: map[events.Stream]events.Time{}} }

// set replaces the stream's time; 0 means never.
func (w *wakes) set(s events.Stream, at events.Time) {
	if w.at[s] == at {
		return
	}
	if at == 0 {
		delete(w.at, s)
		return
	}
	w.at[s] = at
	heap.Push(&w.heap, wake{at, s})
	if len(w.heap) > 2*len(w.at)+64 {
		w.rebuild()
	}
}

// rebuild forgets the entries that are no longer in force.
func (w *wakes) rebuild() {
	w.heap = w.heap[:0]
	for s, at := range w.at {
		w.heap = append(w.heap, wake{at, s})
	}
	heap.Init(&w.heap)
}

// first is the earliest time in force; 0 for none.
func (w *wakes) first() events.Time {
	for len(w.heap) > 0 {
		if top := w.heap[0]; w.at[top.stream] == top.at {
			return top.at
		}
		heap.Pop(&w.heap)
	}
	return 0
}

// due takes the next stream whose time has come by now.
func (w *wakes) due(now events.Time) (events.Stream, bool) {
	if at := w.first(); at == 0 || at > now {
		return events.Stream{}, false
	}
	top := heap.Pop(&w.heap).(wake)
	delete(w.at, top.stream)
	return top.stream, true
}

// shift moves every time with the clock.
func (w *wakes) shift(step time.Duration) {
	for s, at := range w.at {
		w.at[s] = at.Add(step)
	}
	w.rebuild()
}

type wakeHeap []wake

func (h wakeHeap) Len() int { return len(h) }
func (h wakeHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].stream.ID < h[j].stream.ID // a total order, so that the simulation repeats
}
func (h wakeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *wakeHeap) Push(x any)   { *h = append(*h, x.(wake)) }
func (h *wakeHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

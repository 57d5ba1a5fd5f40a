package due

import (
	"container/heap"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Queue holds a time for each key, and returns the keys when their time has come. Keys with the same time have a fixed
// order, so that a simulation repeats exactly.
type Queue[K comparable] struct {
	at   map[K]events.Time
	heap dueHeap[K] // may hold outdated entries; only entries that match `at` count
}

type entry[K comparable] struct {
	at  events.Time
	key K
}

// New returns an empty queue. Keys with the same time come in the given order.
func New[K comparable](order func(a, b K) int) Queue[K] {
	return Queue[K]{at: map[K]events.Time{}, heap: dueHeap[K]{order: order}}
}

// Set sets the key's time; 0 means never.
func (w *Queue[K]) Set(k K, at events.Time) {
	if w.at[k] == at {
		return
	}
	if at == 0 {
		delete(w.at, k)
		return
	}
	w.at[k] = at
	heap.Push(&w.heap, entry[K]{at, k})
	if w.heap.Len() > 2*len(w.at)+64 {
		w.rebuild()
	}
}

// At returns the key's time; 0 for never.
func (w *Queue[K]) At(k K) events.Time { return w.at[k] }

// rebuild drops outdated entries from the heap.
func (w *Queue[K]) rebuild() {
	w.heap.all = w.heap.all[:0]
	for k, at := range w.at {
		w.heap.all = append(w.heap.all, entry[K]{at, k})
	}
	heap.Init(&w.heap)
}

// First returns the earliest time; 0 for none.
func (w *Queue[K]) First() events.Time {
	for w.heap.Len() > 0 {
		if top := w.heap.all[0]; w.at[top.key] == top.at {
			return top.at
		}
		heap.Pop(&w.heap)
	}
	return 0
}

// Next removes and returns the next key whose time is at or before now.
func (w *Queue[K]) Next(now events.Time) (key K, ok bool) {
	if at := w.First(); at == 0 || at > now {
		return key, false
	}
	top := heap.Pop(&w.heap).(entry[K])
	delete(w.at, top.key)
	return top.key, true
}

// Shift moves all times by a step of the wall clock, so that waits last as long as before.
func (w *Queue[K]) Shift(step time.Duration) {
	for k, at := range w.at {
		w.at[k] = at.Add(step)
	}
	w.rebuild()
}

type dueHeap[K comparable] struct {
	order func(a, b K) int
	all   []entry[K]
}

func (h *dueHeap[K]) Len() int { return len(h.all) }
func (h *dueHeap[K]) Less(i, j int) bool {
	if h.all[i].at != h.all[j].at {
		return h.all[i].at < h.all[j].at
	}
	return h.order(h.all[i].key, h.all[j].key) < 0
}
func (h *dueHeap[K]) Swap(i, j int) { h.all[i], h.all[j] = h.all[j], h.all[i] }
func (h *dueHeap[K]) Push(x any)    { h.all = append(h.all, x.(entry[K])) }
func (h *dueHeap[K]) Pop() any {
	last := len(h.all) - 1
	x := h.all[last]
	h.all = h.all[:last]
	return x
}

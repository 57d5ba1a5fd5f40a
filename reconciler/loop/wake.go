package loop

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/jobledger/jobledger/events"
)

// delayingQueue maps keys to due times. Its order is total, so that the simulation is deterministic.
type delayingQueue[K comparable] struct {
	at   map[K]events.Time
	heap dueHeap[K] // may hold outdated entries; at decides
}

type due[K comparable] struct {
	at  events.Time
	key K
}

// newWakes returns the queue of each stream's next decision. It is derived: decisions of the same state ask for the
// same times.
func newWakes() delayingQueue[events.Stream] {
	return newDelayingQueue(func(a, b events.Stream) int { return cmp.Compare(a.ID, b.ID) })
}

func newDelayingQueue[K comparable](order func(a, b K) int) delayingQueue[K] {
	return delayingQueue[K]{at: map[K]events.Time{}, heap: dueHeap[K]{order: order}}
}

// set sets the key's time; 0 means never.
func (w *delayingQueue[K]) set(k K, at events.Time) {
	if w.at[k] == at {
		return
	}
	if at == 0 {
		delete(w.at, k)
		return
	}
	w.at[k] = at
	heap.Push(&w.heap, due[K]{at, k})
	if w.heap.Len() > 2*len(w.at)+64 {
		w.rebuild()
	}
}

// rebuild drops outdated entries.
func (w *delayingQueue[K]) rebuild() {
	w.heap.all = w.heap.all[:0]
	for k, at := range w.at {
		w.heap.all = append(w.heap.all, due[K]{at, k})
	}
	heap.Init(&w.heap)
}

// first returns the earliest time; 0 for none.
func (w *delayingQueue[K]) first() events.Time {
	for w.heap.Len() > 0 {
		if top := w.heap.all[0]; w.at[top.key] == top.at {
			return top.at
		}
		heap.Pop(&w.heap)
	}
	return 0
}

// due removes and returns the next key whose time is at or before now.
func (w *delayingQueue[K]) due(now events.Time) (key K, ok bool) {
	if at := w.first(); at == 0 || at > now {
		return key, false
	}
	top := heap.Pop(&w.heap).(due[K])
	delete(w.at, top.key)
	return top.key, true
}

// shift moves every time by a clock step.
func (w *delayingQueue[K]) shift(step time.Duration) {
	for k, at := range w.at {
		w.at[k] = at.Add(step)
	}
	w.rebuild()
}

type dueHeap[K comparable] struct {
	order func(a, b K) int
	all   []due[K]
}

func (h *dueHeap[K]) Len() int { return len(h.all) }
func (h *dueHeap[K]) Less(i, j int) bool {
	if h.all[i].at != h.all[j].at {
		return h.all[i].at < h.all[j].at
	}
	return h.order(h.all[i].key, h.all[j].key) < 0
}
func (h *dueHeap[K]) Swap(i, j int) { h.all[i], h.all[j] = h.all[j], h.all[i] }
func (h *dueHeap[K]) Push(x any)    { h.all = append(h.all, x.(due[K])) }
func (h *dueHeap[K]) Pop() any {
	last := len(h.all) - 1
	x := h.all[last]
	h.all = h.all[:last]
	return x
}

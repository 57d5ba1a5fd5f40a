package observation

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// queue holds the observations that the sink has not taken yet, in order. An object has at most one waiting observation
// and a deletion. So the queue is bounded by the number of objects, deletions and listings. It is safe for concurrent
// use; only one goroutine may call next.
type queue struct {
	mu      sync.Mutex
	items   []*item // items[head:] wait; an item without facts was replaced
	head    int
	waiting int
	latest  map[types.UID]*item     // the waiting observation of each object
	listing map[events.Resource]int // number of listings begun
	ready   chan struct{}           // holds a token when the queue may not be empty
}

type item struct {
	uid     types.UID // empty when o is not about an object
	listing int
	o       events.Observation
}

func newQueue() *queue {
	return &queue{latest: map[types.UID]*item{}, listing: map[events.Resource]int{}, ready: make(chan struct{}, 1)}
}

// seen queues an observation. It takes the place of a waiting observation of the same object. If a listing has begun
// since, the new observation goes to the end of the queue instead, so that each listing is complete.
func (q *queue) seen(r events.Resource, uid types.UID, o events.Observation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if old := q.latest[uid]; old != nil {
		// Keep the names of fields that admission changed: only the first observation of a pod has them
		if o.Evidence.Admitted == nil {
			o.Evidence.Admitted = old.o.Evidence.Admitted
		}
		if old.listing == q.listing[r] {
			old.o = o
			return
		}
		q.drop(old)
	}
	q.latest[uid] = q.push(r, uid, o)
}

// gone queues a deletion. It drops the object's waiting observation if kind.outlived allows that.
func (q *queue) gone(r events.Resource, uid types.UID, o events.Observation, kind interface{ outlived(events.Facts) bool }) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if old := q.latest[uid]; old != nil {
		if kind.outlived(old.o.Facts) {
			q.drop(old)
		}
		delete(q.latest, uid)
	}
	q.push(r, uid, o)
}

// mark queues an observation that is about no object, such as the beginning or the end of a listing.
func (q *queue) mark(o events.Observation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if f, ok := o.Facts.(*events.ListingStarted); ok {
		for _, r := range f.Resources {
			q.listing[r]++
		}
		q.void(f.Resources)
	}
	q.push(0, "", o)
}

// void drops the waiting Synced records of resources that are listed again. Observations of the new listing may replace
// those of the old one, so an object could seem to be missing at the end of the old listing.
func (q *queue) void(resources []events.Resource) {
	for _, it := range q.items[q.head:] {
		if end, ok := it.o.Facts.(*events.Synced); ok && slices.Contains(resources, end.Resources[0]) {
			q.drop(it)
		}
	}
}

// push appends an observation about an object of resource r, or about none.
func (q *queue) push(r events.Resource, uid types.UID, o events.Observation) *item {
	it := &item{uid: uid, listing: q.listing[r], o: o}
	q.items = append(q.items, it)
	q.waiting++
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return it
}

// drop removes an item without moving the others.
func (q *queue) drop(it *item) {
	it.o = events.Observation{}
	q.waiting--
}

// next blocks until it can take an observation. It returns false when ctx has ended.
func (q *queue) next(ctx context.Context) (events.Observation, bool) {
	for ctx.Err() == nil {
		if o, ok := q.take(); ok {
			return o, true
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
		}
	}
	return events.Observation{}, false
}

func (q *queue) take() (events.Observation, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head < len(q.items) {
		it := q.items[q.head]
		q.items[q.head] = nil
		q.head++
		if it.o.Facts == nil {
			continue
		}
		if q.latest[it.uid] == it {
			delete(q.latest, it.uid)
		}
		q.waiting--
		q.compact()
		return it.o, true
	}
	q.compact()
	return events.Observation{}, false
}

// compact frees the memory of taken items, at amortized constant cost.
func (q *queue) compact() {
	switch {
	case q.head == len(q.items):
		q.items, q.head = nil, 0
	case q.head >= 1024 && q.head*2 >= len(q.items):
		q.items, q.head = append([]*item(nil), q.items[q.head:]...), 0
	}
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

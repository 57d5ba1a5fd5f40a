package informer

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// queue holds observations that the sink has not taken yet, in order. It has no bound of its own: an object has at
// most one undelivered sighting beside its deletion, so it holds no more than there are objects, deletions and
// listings. Safe for concurrent use; one goroutine calls next.
type queue struct {
	mu      sync.Mutex
	items   []*item // items[head:] wait; one without facts was overtaken
	head    int
	waiting int
	latest  map[types.UID]*item     // the undelivered sighting of an object
	listing map[events.Resource]int // counts the listings begun
	ready   chan struct{}           // has a token when something may wait
}

type item struct {
	uid     types.UID // empty for what is not about an object
	listing int
	o       events.Observation
}

func newQueue() *queue {
	return &queue{latest: map[types.UID]*item{}, listing: map[events.Resource]int{}, ready: make(chan struct{}, 1)}
}

// seen queues a sighting. One of the same object that still waits gives way to it: the new one takes its place, or,
// when a listing has begun since, the end of the queue, so that each listing is told whole.
func (q *queue) seen(r events.Resource, uid types.UID, o events.Observation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if old := q.latest[uid]; old != nil {
		if o.Evidence.Admitted == nil { // only the first sighting of a pod has them
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

// gone queues a deletion. The object's waiting sighting is dropped if the kind says that the deletion makes up for it.
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

// mark queues what is about no object: the beginning and the end of a listing.
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

// void drops the ends of listings that still wait when the resource is listed again. Sightings of the listing before
// may give way to those of this one, so its end would be told without them, and they would be taken for missing.
func (q *queue) void(resources []events.Resource) {
	for _, it := range q.items[q.head:] {
		if end, ok := it.o.Facts.(*events.Synced); ok && slices.Contains(resources, end.Resources[0]) {
			q.drop(it)
		}
	}
}

// push appends an observation of an object of that resource, or of none.
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

// drop takes an item out of the order without moving the others.
func (q *queue) drop(it *item) {
	it.o = events.Observation{}
	q.waiting--
}

// next waits for an observation and takes it. It returns false when ctx has ended.
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

// compact gives back the room of what was taken, at a cost that is constant for each item.
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

package executor

import (
	"slices"

	"github.com/jobledger/jobledger/events"
)

// key names an API object. Commands of one object are carried out one at a time, in their order.
type key struct {
	job, cronJob    bool // else a pod
	namespace, name string
}

// item is a task that waits or is in flight.
type item struct {
	task      events.Task
	key       key
	priority  events.Priority
	ready     bool // the first of its key: it waits for a slot, or is in flight
	withdrawn bool // it was given back; queues forget it when they meet it
}

// tiers are the priorities between which nothing is shared. Within each, Jobs take turns.
const (
	tierDeletion = iota
	tierFinish
	tierEnd
	tierWork
	tierProgress
	tiers
)

// round is after how many calls the order of the tiers begins anew. Most calls are of the most urgent tier that waits. So that none
// starves, one in eight is of the least urgent one, and a tier between has some that no more urgent one can take. What a tier in which
// nothing waits does not need is for work. So a user who deletes pods without end leaves 7 calls in 16 to the pods that others make.
const round = 16

// reserved are the calls of a round that a tier has if anything in it waits, and else work.
var reserved = [round]int{
	3: tierFinish, 5: tierEnd, 7: tierProgress, 9: tierWork, 11: tierFinish, 13: tierEnd, 15: tierProgress,
}

// queue is what waits for a slot, in the order of its turn. It is not safe for concurrent use.
type queue struct {
	tiers [tiers]tier
	keys  map[key]*fifo[*item] // by object: the first is ready, the others wait for it
	taken uint64
}

func newQueue() queue {
	q := queue{keys: map[key]*fifo[*item]{}}
	for i := range q.tiers {
		q.tiers[i].number, q.tiers[i].turns = i, map[events.Stream]*turn{}
	}
	return q
}

// add puts a task behind those of its object.
func (q *queue) add(it *item) {
	line := q.keys[it.key]
	if line == nil {
		line = &fifo[*item]{}
		q.keys[it.key] = line
	}
	line.push(it)
	if line.len() == 1 {
		q.admit(it)
	}
}

// release ends an object's first task, and lets the next one have its turn.
func (q *queue) release(k key) {
	line := q.keys[k]
	line.pop()
	for line.len() > 0 && line.first().withdrawn {
		line.pop()
	}
	if line.len() == 0 {
		delete(q.keys, k)
		return
	}
	q.admit(line.first())
}

func (q *queue) admit(it *item) {
	it.ready = true
	q.tiers[tierOf(it.priority)].push(it)
}

func tierOf(p events.Priority) int {
	switch p {
	case events.PriorityDeletion:
		return tierDeletion
	case events.PriorityFinish:
		return tierFinish
	case events.PriorityEnd:
		return tierEnd
	case events.PriorityProgress:
		return tierProgress
	default:
		return tierWork
	}
}

// take is the next task, of a stream that may have another call in flight; nil when there is none.
func (q *queue) take(may func(events.Stream) bool) *item {
	for _, i := range q.order() {
		if it := q.tiers[i].take(may); it != nil {
			q.taken++
			return it
		}
	}
	return nil
}

// order is the tiers in the order in which the next call is to be of one.
func (q *queue) order() [1 + tiers]int {
	first := reserved[q.taken%round]
	if first != tierDeletion && q.tiers[first].idle() {
		first = tierWork
	}
	return [...]int{first, tierDeletion, tierFinish, tierEnd, tierWork, tierProgress}
}

// hasten moves a task that waits to another tier. What the old one has of it is stale, and is passed over there.
func (q *queue) hasten(it *item, p events.Priority) {
	from := tierOf(it.priority)
	it.priority = p
	if to := tierOf(p); it.ready && to != from {
		q.tiers[to].push(it)
	}
}

// bulk is how many creates and finalizers of a stream wait for their turn. Those that were withdrawn meanwhile are counted.
func (q *queue) bulk(s events.Stream) int {
	if u := q.tiers[tierWork].turns[s]; u != nil {
		return u.bulk.len()
	}
	return 0
}

// tier is tasks between whose streams slots go round.
type tier struct {
	number int
	order  fifo[*turn]
	turns  map[events.Stream]*turn
}

// turn is the tasks of one stream.
type turn struct {
	stream       events.Stream
	urgent, bulk fifo[*item]
}

func (t *tier) push(it *item) {
	u := t.turns[it.task.Stream]
	if u == nil {
		u = &turn{stream: it.task.Stream}
		t.turns[u.stream] = u
		t.order.push(u)
	}
	if it.priority == events.PriorityBulk || (it.priority == events.PriorityEnd && !it.key.job) {
		u.bulk.push(it)
	} else {
		u.urgent.push(it)
	}
}

// idle reports whether nothing waits in it.
func (t *tier) idle() bool { return t.order.len() == 0 }

// take is the first task of the first stream that may have a call, which then goes to the end of the order.
func (t *tier) take(may func(events.Stream) bool) *item {
	for range t.order.len() {
		u := t.order.pop()
		if !may(u.stream) {
			t.order.push(u)
			continue
		}
		it := u.pop(t.number)
		if u.urgent.len()+u.bulk.len() > 0 {
			t.order.push(u)
		} else {
			delete(t.turns, u.stream)
		}
		if it != nil {
			return it
		}
	}
	return nil
}

// pop is the stream's next task in that tier; nil when all of them were withdrawn, or were moved to a more urgent one.
func (u *turn) pop(tier int) *item {
	for _, line := range []*fifo[*item]{&u.urgent, &u.bulk} {
		for line.len() > 0 {
			if it := line.pop(); !it.withdrawn && tierOf(it.priority) == tier {
				return it
			}
		}
	}
	return nil
}

// fifo is a queue in a slice.
type fifo[T any] struct {
	items []T
	head  int
}

func (f *fifo[T]) len() int    { return len(f.items) - f.head }
func (f *fifo[T]) first() T    { return f.items[f.head] }
func (f *fifo[T]) push(item T) { f.items = append(f.items, item) }

func (f *fifo[T]) pop() T {
	var none T
	item := f.items[f.head]
	f.items[f.head] = none
	f.head++
	if f.head > len(f.items)/2 {
		f.items = slices.Delete(f.items, 0, f.head)
		f.head = 0
	}
	return item
}

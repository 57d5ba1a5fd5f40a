package executor

import (
	"container/heap"
	"slices"
	"time"

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
	ready     bool        // the first of its key: it waits for a slot, or is in flight
	withdrawn bool        // it was given back; queues forget it when they meet it
	begun     bool        // it was handed out; queues forget it likewise
	since     events.Time // when it was seen ready first
}

// over reports whether it no longer waits for a slot.
func (it *item) over() bool { return it.withdrawn || it.begun }

// tiers are the priorities between which nothing is shared. Within each, Jobs take turns.
const (
	tierDeletion = iota
	tierFinish
	tierEnd
	tierDue
	tierLeft
	tierWork
	tierProgress
	tiers
	oldest = tiers // no tier: the task that has waited longest, if it is aged
)

// round is after how many calls the order of the tiers begins anew. Most calls are of the most urgent tier that waits.
// An eighth is for tasks that have waited too long, and a tier has some that no more urgent one can take, so none
// starves. What a tier in which nothing waits does not need is for work. So a user who deletes pods without end leaves
// 7 calls in 16 to the pods that others make.
const round = 16

// reserved are the calls of a round that a tier has if anything in it waits, and else work.
var reserved = [round]int{
	1: oldest, 3: tierFinish, 5: tierDue, 6: tierLeft, 7: tierProgress, 9: oldest, 11: tierEnd, 13: tierWork, 15: tierWork,
}

// queue is what waits for a slot, in the order of its turn. It is not safe for concurrent use.
type queue struct {
	tiers [tiers]tier
	keys  map[key]*fifo[*item] // by object: the first is ready, the others wait for it
	ages  ages
	taken uint64
}

func newQueue() queue {
	q := queue{keys: map[key]*fifo[*item]{}, ages: ages{lines: map[events.Stream]*waiters{}}}
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
	q.ages.add(it)
}

func tierOf(p events.Priority) int {
	switch p {
	case events.PriorityDeletion:
		return tierDeletion
	case events.PriorityFinish:
		return tierFinish
	case events.PriorityEnd:
		return tierEnd
	case events.PriorityDue:
		return tierDue
	case events.PriorityLeft:
		return tierLeft
	case events.PriorityProgress:
		return tierProgress
	default:
		return tierWork
	}
}

// take is the next task, of a stream that may have another call in flight; nil when there is none.
func (q *queue) take(now events.Time, may func(events.Stream) bool) *item {
	q.ages.stamp(now)
	it := q.next(now, may)
	if it != nil {
		it.begun = true
		q.taken++
	}
	return it
}

func (q *queue) next(now events.Time, may func(events.Stream) bool) *item {
	first := reserved[q.taken%round]
	switch {
	case first == oldest:
		if it := q.ages.take(now, may); it != nil {
			return it
		}
		first = tierDeletion
	case first != tierDeletion && q.tiers[first].idle():
		first = tierWork
	}
	for _, i := range [...]int{first, tierDeletion, tierFinish, tierEnd, tierDue, tierLeft, tierWork, tierProgress} {
		if it := q.tiers[i].take(may); it != nil {
			return it
		}
	}
	return nil
}

// hasten moves a task that waits to another tier. What the old one has of it is stale, and is passed over there.
func (q *queue) hasten(it *item, p events.Priority) {
	from := tierOf(it.priority)
	it.priority = p
	if to := tierOf(p); it.ready && to != from {
		q.tiers[to].push(it)
	}
}

// creates is how many creates of the bulk of a stream's work wait for their turn. Those that were withdrawn meanwhile
// are counted.
func (q *queue) creates(s events.Stream) int {
	if u := q.tiers[tierWork].turns[s]; u != nil {
		return u.creates.len()
	}
	return 0
}

// agedAfter is how long a task waits for a slot until it is aged. An eighth of the calls is for aged tasks, the oldest
// first, whatever their tier. So while the server takes what comes, no task waits for twice as long.
const agedAfter = time.Second

// ages finds the task that has waited longest. Tasks that have begun or were withdrawn are forgotten when they are met.
// It is not safe for concurrent use.
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

// tier is tasks between whose streams slots go round.
type tier struct {
	number int
	order  fifo[*turn]
	turns  map[events.Stream]*turn
}

// turn is the tasks of one stream: first what is urgent, then creates and finalizers by turns, so neither waits for all
// of the other. Finalizers of a Job of which many pods carry one are urgent (projector.ManyHeld).
type turn struct {
	stream                 events.Stream
	urgent, creates, drops fifo[*item]
	created                bool // the newest of the two was a create
}

func (u *turn) len() int { return u.urgent.len() + u.creates.len() + u.drops.len() }

func (t *tier) push(it *item) {
	u := t.turns[it.task.Stream]
	if u == nil {
		u = &turn{stream: it.task.Stream}
		t.turns[u.stream] = u
		t.order.push(u)
	}
	u.line(it).push(it)
}

// line is where a task waits.
func (u *turn) line(it *item) *fifo[*item] {
	_, drops := it.task.Command.(*events.DropFinalizer)
	switch {
	case it.priority == events.PriorityUnblock:
		return &u.urgent
	case drops:
		return &u.drops
	case it.priority == events.PriorityBulk:
		return &u.creates
	}
	return &u.urgent
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
		if u.len() > 0 {
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

// pop is the stream's next task in that tier; nil when all of them are over, or were moved to a more urgent one.
func (u *turn) pop(tier int) *item {
	lines := [...]*fifo[*item]{&u.urgent, &u.creates, &u.drops}
	if u.created {
		lines[1], lines[2] = lines[2], lines[1]
	}
	for _, line := range lines {
		for line.len() > 0 {
			if it := line.pop(); !it.over() && tierOf(it.priority) == tier {
				if line != &u.urgent {
					u.created = line == &u.creates
				}
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

package executor

import (
	"container/heap"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// key names the API object that a command changes or reads. The commands of one object run one at a time, in order.
type key struct {
	job, cronJob    bool // neither is set for a pod
	namespace, name string
}

// item is a task of the executor that waits to be sent or is in flight.
type item struct {
	task      events.Task
	key       key
	priority  events.Priority
	ready     bool        // first of its object's tasks: it may be sent, or is in flight
	withdrawn bool        // withdrawn; still in the queues, which skip it
	begun     bool        // returned by Next; still in the queues, which skip it
	since     events.Time // when it was ready, as seen by the next Next
}

// over reports whether the item was returned by Next or withdrawn, so that it no longer waits to be sent.
func (it *item) over() bool { return it.withdrawn || it.begun }

// tiers group the priorities of tasks, most urgent first. Within a tier, Jobs take turns.
const (
	tierDeletion = iota
	tierFinish
	tierEnd
	tierDue
	tierLeft
	tierWork
	tierProgress
	tiers
	oldest = tiers // stands for no tier: the task that has waited longest, if it has waited for a second
)

// round is the number of calls after which the schedule of tiers repeats. By default a call goes to the most urgent
// tier with waiting tasks. The array reserved lists the exceptions, so that no tier starves. If a tier does not need
// its reserved call, tierWork gets it. Example: while a user deletes pods without end, 7 of 16 calls still go to other
// users' pod creations.
const round = 16

// reserved has, for some of the 16 calls of a round, the tier that gets the call if it has waiting tasks.
var reserved = [round]int{
	1: oldest, 3: tierFinish, 5: tierDue, 6: tierLeft, 7: tierProgress, 9: oldest, 11: tierEnd, 13: tierWork, 15: tierWork,
}

// queue holds the tasks that wait to be sent, and chooses the next one. It is not safe for concurrent use.
type queue struct {
	tiers [tiers]tier
	keys  map[key]*fifo[*item] // tasks by object: the first may be sent or is in flight, the others wait for its end
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

// add appends a task to the tasks of its object. If the object has no other task, it may be sent.
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

// release removes the first task of object k, which has ended. The next one may then be sent.
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

// take removes and returns the task to send next; nil for none. may reports whether a Job or CronJob may have another
// call in flight.
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

// hasten gives a waiting task the priority p, and so possibly another tier. The tier in which it was skips it later.
func (q *queue) hasten(it *item, p events.Priority) {
	from := tierOf(it.priority)
	it.priority = p
	if to := tierOf(p); it.ready && to != from {
		q.tiers[to].push(it)
	}
}

// creates returns how many pod creations of ordinary priority a stream (Job) has waiting, including withdrawn ones.
func (q *queue) creates(s events.Stream) int {
	if u := q.tiers[tierWork].turns[s]; u != nil {
		return u.creates.len()
	}
	return 0
}

// agedAfter is the wait after which a task counts as aged. Every eighth call goes to the oldest aged task of any tier.
// So as long as these calls suffice to send, each second, as many tasks as become aged, no task waits longer than 2 s.
const agedAfter = time.Second

// ages finds the task that has waited longest. Tasks that have begun or were withdrawn stay in it until they are the
// oldest. It is not safe for concurrent use.
type ages struct {
	fresh []*item // tasks added since the last call of stamp, which sets since
	lines map[events.Stream]*waiters
	first byAge // heap with the waiters of each stream, ordered by their oldest task
}

// waiters holds the waiting tasks of one stream (Job or CronJob), oldest first.
type waiters struct {
	stream events.Stream
	items  fifo[*item]
}

// add adds a task that may be sent now. The next stamp sets the start of its wait.
func (a *ages) add(it *item) { a.fresh = append(a.fresh, it) }

// stamp sets the start of the wait, to now, for all tasks added since its last call.
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

// forget drops the oldest tasks as long as they have begun or were withdrawn.
func (a *ages) forget() {
	for len(a.first) > 0 && a.first[0].items.first().over() {
		a.advance()
	}
}

// advance drops the oldest task, so that the next oldest is the first.
func (a *ages) advance() {
	w := a.first[0]
	if w.items.pop(); w.items.len() > 0 {
		heap.Fix(&a.first, 0)
		return
	}
	heap.Pop(&a.first)
	delete(a.lines, w.stream)
}

// take removes and returns the oldest task that has waited for agedAfter; nil for none. It leaves out Jobs and CronJobs
// for which may returns false, because they have too many calls in flight.
func (a *ages) take(now events.Time, may func(events.Stream) bool) *item {
	// Streams to put back; one or two at most, because each of their Jobs has most of the calls in flight
	var held []*waiters
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

// byAge is a heap of streams with waiting tasks, ordered by the age of their oldest task.
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

// tier holds the waiting tasks of some priorities, by stream (Job or CronJob). The streams take turns.
type tier struct {
	number int
	order  fifo[*turn]
	turns  map[events.Stream]*turn
}

// turn holds the tasks of one stream (Job or CronJob) in a tier. The urgent ones are sent first, then pod creations and
// finalizer removals alternately, so that neither kind has to wait for all of the other. Finalizer removals are urgent
// if many of the Job's pods have a finalizer (projector.ManyHeld).
type turn struct {
	stream                 events.Stream
	urgent, creates, drops fifo[*item]
	created                bool // the last task sent from creates or drops was a pod creation
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

// line returns the list within u (urgent, creates or drops) to which the task belongs.
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

// idle reports whether the tier has no tasks.
func (t *tier) idle() bool { return t.order.len() == 0 }

// take removes and returns a task of the first stream (Job or CronJob) in the tier for which may returns true; nil for
// none. That stream then moves to the end of the order.
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

// pop returns the stream's next task; nil if all its tasks have begun, were withdrawn or moved to a more urgent tier.
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

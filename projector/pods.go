package projector

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/subject/policy"
)

// pods are the pods of a stream: by UID, in the queues of their stages, in sets and in numbers. What is kept besides
// the pods and their order follows from them.
type pods struct {
	byUID     map[types.UID]*Pod
	unlisted  queue
	released  queue
	surplus   queue
	holding   queue
	orphaned  queue
	disowned  queue
	stopping  queue // by the end of the wait
	tally     Tally
	misplaced podSet // active pods without a valid index that nothing is being done to
	fatal     podSet // failed pods that a FailJob rule matches, also those that are not to be counted
	unremoved podSet // pods whose removal is in backoff and can be cancelled
	arrival   uint64 // of the newest pod
	ticks     uint64 // of the newest entry into a stage
	division  division
}

func newPods() pods {
	return pods{byUID: map[types.UID]*Pod{}, misplaced: podSet{}, fatal: podSet{}, unremoved: podSet{}, division: newDivision()}
}

// enterStage puts the pod into the queue of its stage, when that is another one than before.
func (s *pods) enterStage(p *Pod, stage Stage) {
	if p.touched || stage != p.stage {
		s.changed(p)
	}
	if stage == p.stage {
		return
	}
	s.unqueue(p)
	p.stage = stage
	s.ticks++
	p.entered = s.ticks
	s.enqueue(p)
}

// enqueue puts the pod into the queue of its stage.
func (s *pods) enqueue(p *Pod) {
	switch q := s.queue(p.stage); q {
	case nil:
	case &s.stopping:
		q.pushStopping(p)
	default:
		q.push(p)
	}
}

// queue holds the pods of a stage; nil for stages that nothing is waiting in.
func (s *pods) queue(stage Stage) *queue {
	switch stage {
	case Unlisted:
		return &s.unlisted
	case Released:
		return &s.released
	case Surplus:
		return &s.surplus
	case Holding:
		return &s.holding
	case Orphaned:
		return &s.orphaned
	case Disowned:
		return &s.disowned
	case Stopping:
		return &s.stopping
	case Untouched, Dropping:
	}
	return nil
}

// changed notes that a part of the state which has the pod no longer has it as it is: a later part has it again.
func (s *pods) changed(p *Pod) {
	p.touched = false
	d := &s.division
	switch p.line {
	case lineNone:
	case d.round:
		d.told.remove(p)
	default:
		return
	}
	d.left.push(p)
	p.line = lineLeft
}

func (s *pods) unqueue(p *Pod) {
	if q := s.queue(p.stage); q != nil {
		q.remove(p)
	}
}

// Pod is the pod with that UID; nil when the log knows none.
func (s *pods) Pod(uid types.UID) *Pod { return s.byUID[uid] }

// PodCount is the number of pods, of whatever state.
func (s *pods) PodCount() int { return len(s.byUID) }

// Tally is the Job's pods in numbers.
func (s *pods) Tally() Tally { return s.tally }

// Unlisted yields the pods that ended and are not accounted for, in the order in which they ended.
func (s *pods) Unlisted() iter.Seq[*Pod] { return s.unlisted.all }

// UnlistedLen is their number.
func (s *pods) UnlistedLen() int { return s.unlisted.n }

// Released yields the pods whose finalizer may go, in order.
func (s *pods) Released() iter.Seq[*Pod] { return s.released.all }

// ReleasedLen is their number.
func (s *pods) ReleasedLen() int { return s.released.n }

// Surplus yields the surplus pods whose finalizer, or then whose deletion, is to be asked for.
func (s *pods) Surplus() iter.Seq[*Pod] { return s.surplus.all }

// SurplusLen is their number.
func (s *pods) SurplusLen() int { return s.surplus.n }

// Removing reports whether the deletion of a pod has been asked for, and neither is certain yet nor is in backoff. A
// pod whose removal is in backoff is active as any other (J-074).
func (s *pods) Removing() bool { return s.tally.Removing > 0 }

// FailJobMatch is the rule that fails the Job, and the pod it matched: of several the one that the log heard of first,
// so that the pick is the same everywhere (J-133). ok is false when there is none.
func (s *pods) FailJobMatch() (p *Pod, m policy.Match, ok bool) {
	return s.failJobMatch((*Pod).FailsJob)
}

// AnyFailJobMatch is the same with the pods that are not to be counted, at which the built-in controller looks too.
func (s *pods) AnyFailJobMatch() (p *Pod, m policy.Match, ok bool) {
	return s.failJobMatch(func(*Pod) bool { return true })
}

func (s *pods) failJobMatch(counts func(*Pod) bool) (p *Pod, m policy.Match, ok bool) {
	for q := range s.fatal {
		if counts(q) && (p == nil || q.arrived < p.arrived) {
			p = q
		}
	}
	if p == nil {
		return nil, policy.Match{}, false
	}
	return p, p.match, true
}

// queue is pods in the order in which they entered it: those of one stage, or those that a part of the state is yet to
// tell.
type queue struct {
	first, last *Pod
	n           int
	which       int // of a pod's neighbours
}

// A pod has neighbours in the queue of its stage, and in the line of those that are to be told.
const (
	inStage = iota
	inLine
)

// neighbours of a pod in a queue.
type neighbours struct{ prev, next *Pod }

func (q *queue) push(p *Pod) {
	p.neighbours[q.which].prev = q.last
	if q.last != nil {
		q.last.neighbours[q.which].next = p
	} else {
		q.first = p
	}
	q.last = p
	q.n++
}

// join puts the pods of another queue behind its own.
func (q *queue) join(more *queue) {
	switch {
	case more.first == nil:
	case q.first == nil:
		q.first, q.last, q.n = more.first, more.last, more.n
	default:
		q.last.neighbours[q.which].next, more.first.neighbours[q.which].prev = more.first, q.last
		q.last, q.n = more.last, q.n+more.n
	}
}

func (q *queue) remove(p *Pod) {
	at := &p.neighbours[q.which]
	if at.prev != nil {
		at.prev.neighbours[q.which].next = at.next
	} else {
		q.first = at.next
	}
	if at.next != nil {
		at.next.neighbours[q.which].prev = at.prev
	} else {
		q.last = at.prev
	}
	*at = neighbours{}
	q.n--
}

// all yields the pods in order; the one being yielded may be moved to another queue.
func (q *queue) all(yield func(*Pod) bool) {
	for p := q.first; p != nil; {
		next := p.neighbours[q.which].next
		if !yield(p) {
			return
		}
		p = next
	}
}

// pushStopping puts a pod in before those whose wait ends later: mostly it is the last.
func (q *queue) pushStopping(p *Pod) {
	after := q.last
	for after != nil && after.StoppingSince > p.StoppingSince {
		after = after.neighbours[q.which].prev
	}
	if after == q.last {
		q.push(p)
		return
	}
	at := &p.neighbours[q.which]
	if at.prev = after; after == nil {
		at.next, q.first = q.first, p
	} else {
		at.next, after.neighbours[q.which].next = after.neighbours[q.which].next, p
	}
	at.next.neighbours[q.which].prev = p
	q.n++
}

// enterStopping is the pod's share while it may end by itself: it holds its slot and its index as a pod that runs.
func (j *Job) enterStopping(p *Pod) {
	if p.in.stopping = p.stage == Stopping; !p.in.stopping {
		return
	}
	p.in.running = j.PerIndex
	if j.Indexed {
		p.in.index = p.Index
	}
}

// uncomplete notes that an unlisted pod no longer completes that index, unless another one does, or the published
// status has it by now.
func (j *Job) uncomplete(i int32) {
	if j.Base.Completed.Has(i) {
		return
	}
	for p := range j.Unlisted() {
		if p.in.completing && p.in.completes == i {
			return
		}
	}
	j.reopen(i)
}

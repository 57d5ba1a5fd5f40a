package projector

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/subject/policy"
)

// pods holds the pods of one Job (or the orphan pods of a namespace): by UID, in a queue for each stage (how far a pod
// is on its way into the status), in sets, and as counts. Queues, sets and counts can be rebuilt from the pods and
// their order.
type pods struct {
	byUID     map[types.UID]*Pod
	unlisted  queue
	released  queue
	surplus   queue
	holding   queue
	orphaned  queue
	disowned  queue
	stopping  queue // ordered by StoppingSince, so the wait that ends first comes first
	tally     Tally
	misplaced podSet // active pods without a valid index that no command is about
	fatal     podSet // failed pods that a FailJob rule matches, counted or not
	unremoved podSet // pods with a refused removal (in backoff) that a decision may cancel
	arrival   uint64 // number of pods that have arrived
	ticks     uint64 // number of the newest entry into a stage
	division  division
}

func newPods() pods {
	return pods{byUID: map[types.UID]*Pod{}, misplaced: podSet{}, fatal: podSet{}, unremoved: podSet{}, division: newDivision()}
}

// enterStage sets the pod's stage (how far it is on its way into the status). If the stage is a new one, the pod moves
// to the queue of that stage.
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

// enqueue puts the pod into the queue of its stage (how far the pod is on its way into the status).
func (s *pods) enqueue(p *Pod) {
	switch q := s.queue(p.stage); q {
	case nil:
	case &s.stopping:
		q.pushStopping(p)
	default:
		q.push(p)
	}
}

// queue returns the queue of the pods in a stage (how far a pod is on its way into the status); nil if the stage has
// none.
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

// changed puts a pod that has changed back into the queue of pods that are to be stored, because its stored form is out
// of date.
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

// Pod returns the pod with that UID; nil if unknown.
func (s *pods) Pod(uid types.UID) *Pod { return s.byUID[uid] }

// PodCount returns the number of pods in any state.
func (s *pods) PodCount() int { return len(s.byUID) }

// Tally returns the counts of the Job's pods.
func (s *pods) Tally() Tally { return s.tally }

// Unlisted yields the ended pods that no confirmed status accounts for, in the order in which this was found.
func (s *pods) Unlisted() iter.Seq[*Pod] { return s.unlisted.all }

// UnlistedLen returns the number of pods that Unlisted yields.
func (s *pods) UnlistedLen() int { return s.unlisted.n }

// Released yields the pods whose finalizer can be removed, in the order in which that became possible.
func (s *pods) Released() iter.Seq[*Pod] { return s.released.all }

// ReleasedLen returns the number of pods that Released yields.
func (s *pods) ReleasedLen() int { return s.released.n }

// Surplus yields the surplus pods (to be deleted, never counted) that need a new command: the removal of the finalizer,
// or after that the deletion.
func (s *pods) Surplus() iter.Seq[*Pod] { return s.surplus.all }

// SurplusLen returns the number of pods that Surplus yields.
func (s *pods) SurplusLen() int { return s.surplus.n }

// Removing reports whether the removal of a pod is in progress: a deletion, or for a surplus pod (to be deleted, never
// counted) also what comes before its deletion. A pod whose removal was refused and is in backoff counts as active
// (J-074).
func (s *pods) Removing() bool { return s.tally.Removing > 0 }

// FailJobMatch returns the podFailurePolicy rule that fails the Job, and the pod that it matched. Of several pods it
// returns the first in order of arrival, so that the choice is deterministic (J-133). ok is false if there is none.
func (s *pods) FailJobMatch() (p *Pod, m policy.Match, ok bool) {
	return s.failJobMatch((*Pod).FailsJob)
}

// AnyFailJobMatch returns the first pod, in order of arrival, that a FailJob rule matches, even if the pod does not
// count. The built-in controller looks at such pods, too.
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

// queue is a linked list of pods in order of entry. There is one for each stage of pods, and two for a division (the
// storing of the Job's state in parts).
type queue struct {
	first, last *Pod
	n           int
	which       int // index into Pod.neighbours
}

// Values of queue.which. A pod is in up to two queues at once: that of its stage, and one of the division (the storing
// of the Job's state in parts).
const (
	inStage = iota
	inLine
)

// neighbours are the previous and next pod in a queue.
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

// join moves all pods of the queue more to the end of q.
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

// all yields the pods in order. The caller may move the yielded pod to another queue.
func (q *queue) all(yield func(*Pod) bool) {
	for p := q.first; p != nil; {
		next := p.neighbours[q.which].next
		if !yield(p) {
			return
		}
		p = next
	}
}

// pushStopping inserts a pod in the order of StoppingSince; usually it comes last.
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

// enterStopping sets in p.in, which is what the pod adds to the Job's counts, that a pod under deletion may still end
// by itself: like a running pod it uses up one of the parallel pods, and its index.
func (j *Job) enterStopping(p *Pod) {
	if p.in.stopping = p.stage == Stopping; !p.in.stopping {
		return
	}
	p.in.running = j.PerIndex
	if j.Indexed {
		p.in.index = p.Index
	}
}

// uncomplete marks index i as not succeeded, after a pod that had completed it no longer does. It does nothing if
// another ended pod or the published status completes the index.
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

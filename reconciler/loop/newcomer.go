package loop

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// Admission queue. The first record of a Job stores its selector and policies, which may be as large as an object;
// that of a CronJob stores the rules of its zone. So a client that creates and deletes them could fill the log despite
// its namespace's budget. In a namespace over its budget one new Job or CronJob per second is admitted, oldest first;
// after a large one the next waits until the budget has leaked its size. The others wait in a queue per namespace
// ("door"). An object deleted in the queue is only counted (passBy).

// doorWait is the longest wait behind one admitted Job. It lets all in even if the budget is small beside one Job: 10
// queued Jobs are in after 10 minutes.
const doorWait = time.Minute

// followUps estimates the records that follow a new pod's first one, as a multiple of its size: the decision, the end
// of the command, the pod's end.
const followUps = 4

// newcomers holds new objects whose first observation waits for admission.
type newcomers struct {
	doors map[doorway]*door      // of namespaces over their budgets
	dues  delayingQueue[doorway] // when each door opens next
	held  map[types.UID]*newcomer
}

// doorway identifies an admission queue: a namespace, and in it one queue for Jobs and CronJobs, one for other
// objects, which may be far more.
type doorway struct {
	namespace string
	others    bool
}

func byDoorway(a, b doorway) int {
	switch {
	case a.others == b.others:
		return cmp.Compare(a.namespace, b.namespace)
	case b.others:
		return -1
	}
	return 1
}

// door is an admission queue, oldest first. Entries that have left stay in waiting until they are more than 16 plus
// half of its length.
type door struct {
	opens   events.Time // when the next may be admitted
	waiting []*newcomer
	left    int // number of entries in waiting that have left
}

type newcomer struct {
	doorway
	seen   *events.Observation // newest version, without the template's text; nil once it has left
	past   *past               // of its stream, if looked up
	passed uint64              // versions seen before that
	queued bool                // in door.waiting
}

func newNewcomers() newcomers {
	return newcomers{doors: map[doorway]*door{}, dues: newDelayingQueue(byDoorway), held: map[types.UID]*newcomer{}}
}

// doored reports whether an observation shows a Job or CronJob without a record.
func (l *Loop) doored(o *events.Observation) bool {
	switch o.Facts.(type) {
	case *events.JobSeen:
	case *events.CronJobSeen:
		if !l.world.Settings.CronJobs {
			return false
		}
	default:
		return false
	}
	return l.intake.First(o)
}

// arrive admits the first observation of a Job or CronJob, or queues it. For an object in the queue it replaces the
// waiting version.
func (l *Loop) arrive(b *batch, o *events.Observation) (size int) {
	p := &l.pace
	n := p.new.held[o.Object().UID]
	way := doorway{namespace: o.Namespace(), others: !l.doored(o)}
	switch {
	case l.world.Listing || p.flush:
		return l.admit(b, o)
	case n != nil:
		if n.seen.Object().Version < o.Object().Version {
			p.passed++
			n.passed++
			n.seen = withoutText(o)
		}
		return heldCost
	case l.shut(way, b.time):
		l.wait(b, way, o)
		return heldCost
	}
	return l.letIn(b, way, o)
}

// shut reports whether a new object must queue.
func (l *Loop) shut(way doorway, now events.Time) bool {
	d := l.pace.new.doors[way]
	return d != nil && (len(d.waiting) > d.left || now < d.opens && l.excess(way.namespace, now) >= atPace)
}

// wait appends an object to an admission queue.
func (l *Loop) wait(b *batch, way doorway, o *events.Observation) *newcomer {
	n := &newcomer{doorway: way, queued: true, seen: withoutText(o), past: l.pasts[events.JobStream(o.Job.UID)]}
	l.pace.new.held[o.Object().UID] = n
	d := l.pace.new.doors[way]
	d.waiting = append(d.waiting, n)
	l.hold(b, way.namespace)
	return n
}

// comeIn admits the first observation of another kind of object after its minute of waiting. In a namespace still over
// two budgets it is admitted at the pace of the budget: otherwise objects that cannot be deleted in time, because they
// have our finalizer, would fill the log.
func (l *Loop) comeIn(b *batch, x *paced) (size int) {
	o := l.pace.take(x)
	way := doorway{namespace: x.namespace, others: true}
	if !l.shut(way, b.time) {
		size = l.letIn(b, way, o)
		l.pace.came(x, o.Object().UID, b.time)
		return size
	}
	l.pace.forget(o.Object().UID)
	l.wait(b, way, o).passed = x.passed
	return heldCost
}

// turnAway queues a Job that was read live because pods name it; otherwise a pod per Job would bypass the queue. The
// read counts as unanswered, and is repeated after its backoff.
func (l *Loop) turnAway(b *batch, r *events.TaskResult) *events.TaskResult {
	for i := range r.Observations { // a read returns one Job
		o := &r.Observations[i]
		if !l.doored(o) || l.late(r, o) || l.excess(o.Namespace(), b.time) < atPace || l.world.Listing || l.pace.flush {
			continue
		}
		l.arrive(b, o)
		turned := *r
		turned.Observations = slices.Delete(slices.Clone(r.Observations), i, i+1)
		if l.pace.new.held[o.Job.UID] != nil {
			turned.Ended.Ending, turned.Ended.UID, turned.Ended.Version, turned.Ended.Written = events.OutcomeUnknown, "", 0, 0
			turned.Evidence.Message = "the Job waits to be recorded: its namespace is over its budget of log"
		}
		return &turned
	}
	return r
}

// withoutText drops the template's text, which may be large and is not recorded for a namespace over its budget.
func withoutText(o *events.Observation) *events.Observation {
	cut := *o
	cut.Template = nil
	return &cut
}

// letIn admits a first observation. In a namespace over its budget the next one must wait.
func (l *Loop) letIn(b *batch, way doorway, o *events.Observation) (size int) {
	before := len(b.records)
	size = l.admit(b, o)
	if l.excess(way.namespace, b.time) < atPace || len(b.records) == before {
		return size
	}
	weight := int64(0)
	for i := range b.records[before:] {
		if rec := &b.records[before+i]; rec.Kind != events.KindStateStored {
			weight += int64(events.Weight(rec))
		}
	}
	wait, least := doorWait, paceEvery
	if way.others {
		weight, least = weight*followUps, time.Millisecond
	}
	if ms := weight * time.Hour.Milliseconds() / l.world.Settings.NamespaceBudget; ms < wait.Milliseconds() {
		wait = max(least, time.Duration(ms)*time.Millisecond)
	}
	d := l.pace.new.doors[way]
	if d == nil {
		d = &door{}
		l.pace.new.doors[way] = d
	}
	d.opens = b.time.Add(wait)
	l.pace.new.dues.set(way, d.opens)
	return size
}

// openDoors admits the objects whose turn it is, the oldest of each queue; all of them if all is set.
func (l *Loop) openDoors(b *batch, until events.Time, most int, all bool) (size int) {
	doors := &l.pace.new
	for size < most && (!all || l.pace.holding > 0) {
		way, ok := doors.dues.due(until)
		if !ok {
			break
		}
		d := doors.doors[way]
		n := d.next()
		switch {
		case n != nil:
			d.opens = b.time // next one at once, unless letIn delays it
			doors.dues.set(way, d.opens)
			if n.past != nil {
				l.pasts[events.JobStream(n.seen.Job.UID)] = n.past
			}
			o := n.seen
			size += heldCost + l.letIn(b, way, o) // removes it from the queue (overtaken)
		case all || d.opens <= b.time:
			delete(doors.doors, way)
		default:
			doors.dues.set(way, d.opens)
		}
	}
	return size
}

// next removes and returns the oldest waiting object; nil for none.
func (d *door) next() *newcomer {
	for len(d.waiting) > 0 {
		n := d.waiting[0]
		d.waiting[0] = nil
		d.waiting = d.waiting[1:]
		if n.seen != nil {
			n.queued = false
			return n
		}
		d.left--
	}
	return nil
}

// shift moves all times by a clock step.
func (n *newcomers) shift(step time.Duration) {
	for _, d := range n.doors {
		d.opens = d.opens.Add(step)
	}
	n.dues.shift(step)
}

package loop

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// The first sighting of a Job is stored with its selector and its policies, which may be as large as an object; that of
// a CronJob with the rules of its zone. So whoever creates and deletes them could fill the log whatever its namespace's
// budget is. Of a namespace that is over its budget one new Job or CronJob in a second is let in, the oldest; and after
// a large one the next waits for as long as the budget takes to leak what that one wrote. The others wait at the door
// of their namespace. Who is deleted there is counted (passBy).

// doorWait is how long a new Job waits behind another one at most: also a budget that is small beside one Job lets all
// in.
const doorWait = time.Minute

// followUps is how many times as much as its first sighting a pod leads to, about: the decision, the end of the
// command, its own end.
const followUps = 4

// newcomers are objects whose first sightings are held back.
type newcomers struct {
	doors map[doorway]*door      // of namespaces over their budgets
	dues  delayingQueue[doorway] // when each is to be opened
	held  map[types.UID]*newcomer
}

// doorway is where newcomers of a namespace wait: Jobs and CronJobs at one, and other objects, of which there may be
// many more, at another.
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

// door is who waits in a namespace, oldest first. Of those that have left, fewer are kept than of those that wait, and
// a few.
type door struct {
	opens   events.Time // when the next may come
	waiting []*newcomer
	left    int // how many of those that wait have left
}

type newcomer struct {
	doorway
	seen   *events.Observation // the newest version, without the template's text; nil when it has left
	past   *past               // of its stream, if that was looked for
	passed uint64              // versions seen before that
	queued bool                // at its door, so that it leaves a gap there
}

func newNewcomers() newcomers {
	return newcomers{doors: map[doorway]*door{}, dues: newDelayingQueue(byDoorway), held: map[types.UID]*newcomer{}}
}

// doored reports whether an observation shows a Job or a CronJob that has no record yet.
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

// arrive takes the first sighting of a Job, or a newer version of an object that waits, and lets it in or keeps it at
// the door.
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

// shut reports whether a newcomer has to wait at a door.
func (l *Loop) shut(way doorway, now events.Time) bool {
	d := l.pace.new.doors[way]
	return d != nil && (len(d.waiting) > d.left || now < d.opens && l.excess(way.namespace, now) >= atPace)
}

// wait puts a newcomer behind those who wait at a door.
func (l *Loop) wait(b *batch, way doorway, o *events.Observation) *newcomer {
	n := &newcomer{doorway: way, queued: true, seen: withoutText(o), past: l.pasts[events.JobStream(o.Job.UID)]}
	l.pace.new.held[o.Object().UID] = n
	d := l.pace.new.doors[way]
	d.waiting = append(d.waiting, n)
	l.hold(b, way.namespace)
	return n
}

// comeIn takes the first sighting of an object that is no Job or CronJob, when the minute is over for which it waits.
// In a namespace that is still beyond two budgets it is let in at the pace of the budget: an object that cannot go
// before, as it carries our finalizer, would fill the log else.
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

// turnAway keeps a Job at the door that was read because pods name it: else a pod with each Job would let it in. The
// answer counts as none, so the read is asked again after its backoff.
func (l *Loop) turnAway(b *batch, r *events.TaskResult) *events.TaskResult {
	for i := range r.Observations { // a read brings one Job
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

// withoutText leaves out the text of the template, which is not recorded of a namespace that is over its budget. It may
// be large.
func withoutText(o *events.Observation) *events.Observation {
	cut := *o
	cut.Template = nil
	return &cut
}

// letIn admits a first sighting. In a namespace that is over its budget the next one has to wait.
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

// openDoors lets in whose turn it is, the oldest of each namespace: all of them if all is set.
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
			d.opens = b.time // at once again, unless it is put off
			doors.dues.set(way, d.opens)
			if n.past != nil {
				l.pasts[events.JobStream(n.seen.Job.UID)] = n.past
			}
			o := n.seen
			size += heldCost + l.letIn(b, way, o) // which leaves the door (overtaken)
		case all || d.opens <= b.time:
			delete(doors.doors, way)
		default:
			doors.dues.set(way, d.opens)
		}
	}
	return size
}

// next takes the oldest that waits; nil when none does.
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

// shift moves all times with the clock.
func (n *newcomers) shift(step time.Duration) {
	for _, d := range n.doors {
		d.opens = d.opens.Add(step)
	}
	n.dues.shift(step)
}

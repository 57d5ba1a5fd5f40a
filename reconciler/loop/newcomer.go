package loop

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// The first sighting of a Job is stored with its selector and its policies, which may be as large as an object; that of a CronJob with
// the rules of its zone. So whoever creates and deletes them could fill the log whatever its namespace's budget is. Of a namespace that
// is over its budget one new Job or CronJob in a second is let in, the oldest; and after a large one the next waits for as long as the
// budget takes to leak what that one wrote. The others wait at the door of their namespace. Who is deleted there is counted (passBy).

// doorWait is how long a new Job waits behind another one at most: also a budget that is small beside one Job lets all in.
const doorWait = time.Minute

// newcomers are the Jobs and CronJobs whose first sightings are held back.
type newcomers struct {
	doors map[string]*door      // by namespace, of those over their budgets
	dues  delayingQueue[string] // when each is to be opened
	held  map[types.UID]*newcomer
}

// door is who waits in a namespace, oldest first. Of those that have left, fewer are kept than of those that wait, and a few.
type door struct {
	opens   events.Time // when the next may come
	waiting []*newcomer
	left    int // how many of those that wait have left
}

type newcomer struct {
	namespace string
	seen      *events.Observation // the newest version, without the template's text; nil when it has left
	past      *past               // of its stream, if that was looked for
	passed    uint64              // versions seen before that
	queued    bool                // at its door, so that it leaves a gap there
}

func newNewcomers() newcomers {
	return newcomers{doors: map[string]*door{}, dues: newDelayingQueue(cmp.Compare[string]), held: map[types.UID]*newcomer{}}
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

// arrive takes the first sighting of a Job, or a newer version of it, and lets it in or keeps it at the door.
func (l *Loop) arrive(b *batch, o *events.Observation) (size int) {
	p, namespace := &l.pace, o.Namespace()
	d := p.new.doors[namespace]
	n := p.new.held[o.Job.UID]
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
	case d != nil && (len(d.waiting) > d.left || b.time < d.opens && l.excess(namespace, b.time) >= atPace):
		n = &newcomer{namespace: namespace, queued: true, seen: withoutText(o), past: l.pasts[events.JobStream(o.Job.UID)]}
		p.new.held[o.Job.UID] = n
		d.waiting = append(d.waiting, n)
		l.hold(b, namespace)
		return heldCost
	}
	return l.letIn(b, namespace, o)
}

// turnAway keeps a Job at the door that was read because pods name it: else a pod with each Job would let it in. The answer counts as
// none, so the read is asked again after its backoff.
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

// withoutText leaves out the text of the template, which is not recorded of a namespace that is over its budget. It may be large.
func withoutText(o *events.Observation) *events.Observation {
	cut := *o
	cut.Template = nil
	return &cut
}

// letIn admits a first sighting. In a namespace that is over its budget the next one has to wait.
func (l *Loop) letIn(b *batch, namespace string, o *events.Observation) (size int) {
	before := len(b.records)
	size = l.admit(b, o)
	if l.excess(namespace, b.time) < atPace || len(b.records) == before {
		return size
	}
	weight := int64(0)
	for i := range b.records[before:] {
		if rec := &b.records[before+i]; rec.Kind != events.KindStateStored {
			weight += int64(events.Weight(rec))
		}
	}
	wait := doorWait
	if ms := weight * time.Hour.Milliseconds() / l.world.Settings.NamespaceBudget; ms < wait.Milliseconds() {
		wait = max(paceEvery, time.Duration(ms)*time.Millisecond)
	}
	d := l.pace.new.doors[namespace]
	if d == nil {
		d = &door{}
		l.pace.new.doors[namespace] = d
	}
	d.opens = b.time.Add(wait)
	l.pace.new.dues.set(namespace, d.opens)
	return size
}

// openDoors lets in whose turn it is, the oldest of each namespace: all of them if all is set.
func (l *Loop) openDoors(b *batch, until events.Time, most int, all bool) (size int) {
	doors := &l.pace.new
	for size < most && (!all || l.pace.holding > 0) {
		namespace, ok := doors.dues.due(until)
		if !ok {
			break
		}
		d := doors.doors[namespace]
		n := d.next()
		switch {
		case n != nil:
			d.opens = b.time // at once again, unless it is put off
			doors.dues.set(namespace, d.opens)
			if n.past != nil {
				l.pasts[events.JobStream(n.seen.Job.UID)] = n.past
			}
			o := n.seen
			size += heldCost + l.letIn(b, namespace, o) // which leaves the door (overtaken)
		case all || d.opens <= b.time:
			delete(doors.doors, namespace)
		default:
			doors.dues.set(namespace, d.opens)
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

// leave takes a Job from the door, and returns how many versions of it were passed over. It may be there no longer.
func (p *pace) leave(uid types.UID) (passed uint64) {
	n := p.new.held[uid]
	if n == nil {
		return 0
	}
	delete(p.new.held, uid)
	p.release(n.namespace)
	n.seen = nil
	if d := p.new.doors[n.namespace]; n.queued {
		d.left++
		if d.left > 16+len(d.waiting)/2 {
			d.waiting, d.left = slices.DeleteFunc(d.waiting, func(n *newcomer) bool { return n.seen == nil }), 0
		}
	}
	return n.passed
}

// shift moves all times with the clock.
func (n *newcomers) shift(step time.Duration) {
	for _, d := range n.doors {
		d.opens = d.opens.Add(step)
	}
	n.dues.shift(step)
}

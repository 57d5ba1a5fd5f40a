package admission

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/due"
)

// Admission queue. The first record of a Job stores its selector and policies, which may be as large as the Job itself;
// the first record of a CronJob stores the rules of its time zone. So a client that creates and deletes such objects
// could fill the log despite its namespace's budget. In a namespace over its budget, one new Job or CronJob per second
// is recorded, oldest first. After a large one, the next waits until so much time has passed that the budget allows its
// size. The remaining ones wait in the namespace's queue (type door). An object that is deleted in the queue is only
// counted (passBy).

// doorWait is the longest wait after one Job was taken from the admission queue. So all Jobs get their turn, even if
// one Job is large compared with the budget: 10 queued Jobs are recorded within 10 minutes.
const doorWait = time.Minute

// followUps estimates how many bytes of records follow the first record of a new pod, as a multiple of its size: the
// decision, the outcome of the command, the pod's end.
const followUps = 4

// newcomers holds the new objects that wait to be recorded, in admission queues of their namespaces.
type newcomers struct {
	doors map[doorway]*door  // admission queues of namespaces over their budgets
	dues  due.Queue[doorway] // when each queue admits its next object
	held  map[types.UID]*newcomer
}

// doorway identifies an admission queue (new objects that wait to be recorded). Each namespace has two: one for Jobs
// and CronJobs, and one for other objects, which may be far more numerous.
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

// door is an admission queue: new objects of a namespace that wait to be recorded, oldest first. An object that leaves
// early stays in waiting as an empty entry. Empty entries are removed when there are more than 16 plus half of all
// entries.
type door struct {
	opens   events.Time // when the next object may be admitted
	waiting []*newcomer
	left    int // number of empty entries in waiting
}

type newcomer struct {
	doorway
	seen   *events.Observation // newest version, without the template's text; nil once the object has left
	past   *Past               // the Job's newest record in the log, if it was looked up
	passed uint64              // number of older versions that were dropped
	queued bool                // is in door.waiting
}

func newNewcomers() newcomers {
	return newcomers{doors: map[doorway]*door{}, dues: due.New(byDoorway), held: map[types.UID]*newcomer{}}
}

// queues reports whether an observation shows a Job or CronJob that has no record yet, so that the admission queue may
// apply to it.
func (g *Gate) queues(o *events.Observation) bool {
	switch o.Facts.(type) {
	case *events.JobSeen:
	case *events.CronJobSeen:
		if !g.world.Settings.CronJobs {
			return false
		}
	default:
		return false
	}
	return g.intake.First(o)
}

// Holds reports whether the object waits in an admission queue to be recorded.
func (g *Gate) Holds(uid types.UID) bool { return g.new.held[uid] != nil }

// TurnsAway reports whether a Job must wait in the admission queue (Arrive) although a command has read it, because
// pods name it. Without this check a user could bypass the queue with one pod per Job.
func (g *Gate) TurnsAway(now events.Time, o *events.Observation) bool {
	return g.queues(o) && g.excess(o.Namespace(), now) >= atPace && !g.all()
}

// Arrive returns the step for a Job for which TurnsAway is true: the Job is recorded now, or put into the admission
// queue. past is the Job's newest record in the log; nil if it was not looked up.
func (g *Gate) Arrive(now events.Time, o *events.Observation, past *Past) Step {
	return g.arrive(now, o, past)
}

// arrive returns the step for the first observation of a Job or CronJob: it is recorded now, or put into the admission
// queue. If the object already waits there, a newer observation replaces the waiting one.
func (g *Gate) arrive(now events.Time, o *events.Observation, past *Past) (s Step) {
	n := g.new.held[o.Object().UID]
	way := doorway{namespace: o.Namespace(), others: !g.queues(o)}
	switch {
	case g.all():
		return Step{First: o}
	case n != nil:
		if n.seen.Object().Version < o.Object().Version {
			g.passed++
			n.passed++
			n.seen = withoutText(o)
		}
		return Step{Size: heldCost}
	case g.shut(way, now):
		s.Size = heldCost
		g.wait(&s, now, way, o, past)
		return s
	}
	return Step{First: o, queued: true, through: way}
}

// shut reports whether a new object must wait in the admission queue `way`: other objects wait, or the time for the
// next one has not come.
func (g *Gate) shut(way doorway, now events.Time) bool {
	d := g.new.doors[way]
	return d != nil && (len(d.waiting) > d.left || now < d.opens && g.excess(way.namespace, now) >= atPace)
}

// wait appends an object to the admission queue `way`, and counts it as waiting.
func (g *Gate) wait(s *Step, now events.Time, way doorway, o *events.Observation, past *Past) *newcomer {
	n := &newcomer{doorway: way, queued: true, seen: withoutText(o), past: past}
	g.new.held[o.Object().UID] = n
	d := g.new.doors[way]
	d.waiting = append(d.waiting, n)
	g.hold(s, now, way.namespace)
	return n
}

// comeIn returns the step for the first observation of a pod or another object that is no Job, after its minute of
// waiting. If the namespace is still over its budget, the object joins an admission queue, from which objects are taken
// at the rate that the budget allows. Otherwise objects that cannot be deleted within the minute, because they have our
// finalizer, would fill the log.
func (g *Gate) comeIn(now events.Time, x *paced) (s Step) {
	o := g.take(x)
	way := doorway{namespace: x.namespace, others: true}
	if !g.shut(way, now) {
		return Step{First: o, queued: true, through: way, came: x}
	}
	g.forget(o.Object().UID)
	s.Size = heldCost
	g.wait(&s, now, way, o, nil).passed = x.passed
	return s
}

// withoutText returns a copy without the pod template's text. The text may be large, and a namespace over its budget
// does not record it.
func withoutText(o *events.Observation) *events.Observation {
	cut := *o
	cut.Template = nil
	return &cut
}

// delayNext delays the next object of the admission queue `way`, after one was recorded in a namespace over its budget.
// The delay is the time after which the budget allows the size of records, which are those of the recorded object,
// again.
func (g *Gate) delayNext(now events.Time, way doorway, records []events.Record) {
	if g.excess(way.namespace, now) < atPace || len(records) == 0 {
		return
	}
	weight := int64(0)
	for i := range records {
		if rec := &records[i]; rec.Kind != events.KindStateStored {
			weight += int64(events.Weight(rec))
		}
	}
	wait, least := doorWait, paceEvery
	if way.others {
		weight, least = weight*followUps, time.Millisecond
	}
	if ms := weight * time.Hour.Milliseconds() / g.world.Settings.NamespaceBudget; ms < wait.Milliseconds() {
		wait = max(least, time.Duration(ms)*time.Millisecond)
	}
	d := g.new.doors[way]
	if d == nil {
		d = &door{}
		g.new.doors[way] = d
	}
	d.opens = now.Add(wait)
	g.new.dues.Set(way, d.opens)
}

// NextQueued returns the step for the oldest object of an admission queue that may have its next object recorded; ok is
// false for none. During a listing all waiting objects may.
func (g *Gate) NextQueued(now events.Time) (s Step, ok bool) {
	doors := &g.new
	for {
		until, some := g.due(now)
		if !some {
			return Step{}, false
		}
		way, ok := doors.dues.Next(until)
		if !ok {
			return Step{}, false
		}
		d := doors.doors[way]
		n := d.next()
		switch {
		case n != nil:
			d.opens = now // the next object follows at once, unless delayNext sets a later time
			doors.dues.Set(way, d.opens)
			// When the object is recorded, overtaken removes it from held.
			return Step{First: n.seen, Past: n.past, Size: heldCost, queued: true, through: way}, true
		case g.all() || d.opens <= now:
			delete(doors.doors, way)
		default:
			doors.dues.Set(way, d.opens)
		}
	}
}

// leave removes an object from held, the set of waiting objects. It returns how many of its versions were dropped.
func (g *Gate) leave(uid types.UID) (passed uint64) {
	n := g.new.held[uid]
	if n == nil {
		return 0
	}
	delete(g.new.held, uid)
	g.release(n.namespace)
	n.seen = nil
	if d := g.new.doors[n.doorway]; n.queued {
		d.left++
		if d.left > 16+len(d.waiting)/2 {
			d.waiting, d.left = slices.DeleteFunc(d.waiting, func(n *newcomer) bool { return n.seen == nil }), 0
		}
	}
	return n.passed
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

// shift moves all times by a step of the wall clock, so that waits last as long as before.
func (n *newcomers) shift(step time.Duration) {
	for _, d := range n.doors {
		d.opens = d.opens.Add(step)
	}
	n.dues.Shift(step)
}

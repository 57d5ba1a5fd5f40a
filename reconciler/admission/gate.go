package admission

import (
	"cmp"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/budget"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
	"github.com/jobledger/jobledger/reconciler/due"
)

// Rate limit per namespace. Any client that may write objects can cause records without end, and a full log stops all
// Jobs. So each namespace has a budget of log bytes per hour (events.Settings.NamespaceBudget), for all its objects.
//
//	bytes used           what is recorded
//	-------------------  -----------------------------------------------------------------
//	up to the budget     everything
//	over the budget      no texts of pod templates
//	a quarter over it    also one version per object and second, the newest; new Jobs and
//	                     CronJobs queue (Arrive)
//	about two budgets    one version per object and minute; other new objects wait a
//	                     minute, then come in at the pace of the budget (comeIn)
//
// Observations that cannot wait (intake.Intake.Awaited) and listings are never held back. New objects that are
// deleted while they wait become one record with their number (passBy). Nodes and namespaces belong to no namespace and
// share a budget of the same size.

const (
	paceEvery = time.Second // minimum time between two recorded versions of an object
	heldCost  = 64          // bytes that a held-back version counts towards a turn's inputs
)

// FloodPace replaces paceEvery in a namespace over two budgets.
const FloodPace = time.Minute

// Gate holds back versions, and tracks recent records of objects in namespaces over budget. A crash loses it, like
// queued inputs: the next start's listing shows the newest version of every object. An open record (pass) says that
// counts may then be incomplete.
type Gate struct {
	world     *projector.World
	intake    *intake.Intake
	floodPace time.Duration

	objects map[types.UID]*paced
	dues    due.Queue[types.UID] // when each object's next version may be recorded
	new     newcomers
	counts  counts
	cluster budget.Bucket // nodes and namespaces: bytes that this process recorded
	holding int           // number of held-back versions, including new Jobs
	flush   bool          // deliver all, since a listing begins
	passed  uint64        // versions dropped since the start
}

type paced struct {
	next   events.Time         // earliest time of the next recorded version
	held   *events.Observation // newest version since its newest record; nil for none
	passed uint64              // versions seen after the newest record and before held
	first  bool                // nothing of it is recorded yet

	namespace string
}

// New returns a Gate for the observations that intake turns into records of world. It reads both, and changes neither.
// floodPace is the minimum time between two recorded versions of an object whose namespace is over two budgets; not
// more than 0 means no extra limit.
func New(world *projector.World, intake *intake.Intake, floodPace time.Duration) Gate {
	return Gate{
		world: world, intake: intake, floodPace: floodPace,
		objects: map[types.UID]*paced{}, new: newNewcomers(), counts: newCounts(), dues: due.New(cmp.Compare[types.UID]),
	}
}

// Step is what the caller is to do, in the order of the fields.
type Step struct {
	Record *projector.Draft // to record; nil for none
	// Past is what was found in the log about First's Job when it came; nil if the log was not asked.
	Past        *Past
	First, Then *events.Observation // to admit; nil for none
	Size        int                 // bytes that the step counts towards a turn's inputs, besides its records

	queued  bool // First came in by the admission queue through
	through doorway
	came    *paced    // what First was held back by; nil for none
	gone    types.UID // deleted object; empty for none
}

// Past is the end of a Job's stream in the log, as of durable record Through.
type Past struct {
	Newest  events.Sequence // 0 if the stream has no records
	Through events.Sequence
}

// Observe returns the step for an observation. past comes with the observation. ok is false if the turn must end before
// it: a listing begins, and held-back versions must be delivered first, so that they do not count as part of the
// listing.
func (g *Gate) Observe(now events.Time, o *events.Observation, past *Past) (s Step, ok bool) {
	if _, listing := o.Facts.(*events.ListingStarted); listing && g.holding > 0 {
		g.flush = true
		return Step{}, false
	}
	object := o.Object()
	if object.Gone {
		return g.leaves(now, o, object), true
	}
	if g.queues(o) || g.Holds(object.UID) {
		return g.arrive(now, o, past), true
	}
	if s, held := g.holdBack(now, o, object); held {
		return s, true
	}
	return Step{First: o}, true
}

// Admitted tells the gate that a step was carried out, and which records came of First and Then.
func (g *Gate) Admitted(now events.Time, s *Step, records []events.Record) {
	if s.queued {
		g.delayNext(now, s.through, records)
	}
	if s.came != nil {
		g.came(s.came, s.First.Object().UID, now)
	}
	if s.gone != "" {
		g.forget(s.gone)
	}
}

// leaves returns the step for the deletion of an object. For an object without a record only a count is kept.
func (g *Gate) leaves(now events.Time, o *events.Observation, object events.Object) (s Step) {
	s = Step{gone: object.UID}
	if n := g.new.held[object.UID]; n != nil {
		g.passBy(&s, now, o, object, 1+n.passed)
		g.leave(object.UID)
		return s
	}
	p := g.objects[object.UID]
	switch {
	case p == nil && g.intake.First(o) && !g.world.Listing && g.excess(o.Namespace(), now) == flooded: // of no namespace
		g.passBy(&s, now, o, object, 1)
	case p == nil || p.held == nil:
		s.First = o
	case p.first:
		g.take(p)
		g.passBy(&s, now, o, object, 1+p.passed)
	default:
		s.First, s.Then = g.take(p), o
	}
	return s
}

// holdBack holds back a version that comes too early, replacing an older held-back one. held reports whether it did.
func (g *Gate) holdBack(now events.Time, o *events.Observation, object events.Object) (s Step, held bool) {
	p := g.objects[object.UID]
	if object.UID == "" || g.world.Listing || g.flush || p != nil && now >= p.next {
		return s, false
	}
	x := g.excess(o.Namespace(), now)
	if x < atPace || p == nil && (x < flooded || !g.intake.First(o)) || g.intake.Awaited(o) {
		return s, false
	}
	s.Size = heldCost
	if p == nil { // it may be deleted before its minute is over
		p = &paced{next: now.Add(g.floodPace), first: true, namespace: o.Namespace()}
		g.objects[object.UID] = p
	}
	if p.held == nil {
		g.hold(&s, now, p.namespace)
		p.held = o
		g.dues.Set(object.UID, p.next) // a listing may have removed it early
		return s, true
	}
	p.passed++
	g.passed++
	if p.held.Object().Version <= object.Version {
		p.held = o
	}
	return s, true
}

// Delivers returns how many of a turn's bytes may go to held-back versions: half, and all during a listing or before
// one begins.
func (g *Gate) Delivers(turn int) int {
	if g.all() {
		return turn
	}
	return turn / 2
}

// all reports whether versions are delivered before their time, because of a listing.
func (g *Gate) all() bool { return g.world.Listing || g.flush }

// due returns the time up to which waits count as over at time now. ok is false if nothing is to be delivered.
func (g *Gate) due(now events.Time) (until events.Time, ok bool) {
	if g.all() {
		return math.MaxInt64, g.holding > 0
	}
	return now, true
}

// NextHeld returns the step for the next held-back version whose wait is over; ok is false for none.
func (g *Gate) NextHeld(now events.Time) (s Step, ok bool) {
	for {
		until, some := g.due(now)
		if !some {
			return Step{}, false
		}
		uid, ok := g.dues.Next(until)
		if !ok {
			return Step{}, false
		}
		switch x := g.objects[uid]; {
		case x.held != nil && x.first && !g.all():
			return g.comeIn(now, x), true
		case x.held != nil:
			return Step{First: g.take(x), came: x}, true
		case x.passed == 0:
			delete(g.objects, uid)
		}
	}
}

// Delivered ends a delivery.
func (g *Gate) Delivered() { g.flush = g.flush && g.holding > 0 }

// overtaken drops the held-back version of an object that is admitted in the same or a newer version. It returns how
// many versions were dropped since the object's newest record.
func (g *Gate) overtaken(uid types.UID, version uint64) uint64 {
	if n := g.new.held[uid]; n != nil {
		held := n.seen.Object().Version
		if held > version {
			return 0
		}
		if held < version {
			n.passed++
			g.passed++
		}
		return g.leave(uid)
	}
	x := g.objects[uid]
	if x == nil {
		return 0
	}
	if x.held != nil {
		if held := x.held.Object().Version; held <= version {
			g.take(x)
			if held < version {
				x.passed++
				g.passed++
			}
		}
	}
	return x.passed
}

func (g *Gate) take(x *paced) *events.Observation {
	o := x.held
	x.held = nil
	g.release(x.namespace)
	return o
}

// came records that a held-back version was admitted. If that gave no record, the object's limit ends.
func (g *Gate) came(x *paced, uid types.UID, now events.Time) {
	if x.first = false; x.next <= now && x.passed == 0 {
		delete(g.objects, uid)
	}
}

func (g *Gate) forget(uid types.UID) {
	delete(g.objects, uid)
	g.dues.Set(uid, 0)
}

// ForgetAll drops all held-back versions after a rewind of the cluster.
func (g *Gate) ForgetAll() {
	passed, cluster := g.passed+uint64(g.holding), g.cluster
	*g = New(g.world, g.intake, g.floodPace)
	g.passed, g.cluster = passed, cluster
}

// PassedOver returns how many versions were seen but not recorded since the start.
func (g *Gate) PassedOver() uint64 { return g.passed }

// Wake returns when a held-back version or a count is due; 0 for never.
func (g *Gate) Wake() events.Time {
	switch {
	case g.holding > 0 && g.all():
		return g.world.Now
	case g.holding == 0:
		return g.counts.dues.First()
	}
	first := events.Time(0)
	for _, at := range []events.Time{g.dues.First(), g.new.dues.First(), g.counts.dues.First()} {
		if at != 0 && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// Shift moves all times by a clock step.
func (g *Gate) Shift(step time.Duration) {
	for _, x := range g.objects {
		x.next = x.next.Add(step)
	}
	g.dues.Shift(step)
	g.new.shift(step)
	g.counts.shift(step)
	g.cluster.Shift(step)
}

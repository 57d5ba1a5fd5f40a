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

// Log budget per namespace. A client that may write objects can cause any number of records, and a full log stops all
// Jobs. So each namespace has a budget of log bytes per hour (events.Settings.NamespaceBudget) for all its objects.
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
// Observations that a decision waits for (intake.Intake.Awaited) and listings are never held back. New objects that are
// deleted while they wait become one record that counts them (passBy). Nodes and namespaces belong to no namespace;
// they share a budget of the same size.

const (
	paceEvery = time.Second // minimum time between two recorded versions of an object if 1.25 budgets are used
	heldCost  = 64          // bytes that a version which is not recorded now counts towards the limit of a turn
)

// FloodPace is the minimum time between two recorded versions of an object in a namespace that has used about two
// budgets. In such a namespace it replaces paceEvery.
const FloodPace = time.Minute

// Gate decides which versions of objects are recorded now, and keeps the others until they may be. It remembers recent
// records of objects in namespaces over budget. A crash loses this state, as it loses queued inputs: the listing at the
// next start shows the newest version of every object. The counts of dropped versions may then be incomplete, which the
// record says that began them.
type Gate struct {
	world     *projector.World
	intake    *intake.Intake
	floodPace time.Duration

	objects map[types.UID]*paced
	dues    due.Queue[types.UID] // when each object's next version may be recorded
	new     newcomers
	counts  counts
	cluster budget.Bucket // bytes that this process recorded of nodes and namespaces
	holding int           // number of versions that wait to be recorded, including new Jobs
	flush   bool          // record all waiting versions before a listing begins
	passed  uint64        // number of versions dropped since the process started
}

// paced is an object whose versions are limited to one per second or minute.
type paced struct {
	next   events.Time         // earliest time of the next recorded version
	held   *events.Observation // newest version that waits; nil for none
	passed uint64              // versions dropped since the object's newest record, older than held
	first  bool                // the object has no record yet

	namespace string
}

// New returns a Gate for the observations that intake turns into records of world. The Gate reads both and changes
// neither. floodPace is the minimum time between two recorded versions of an object in a namespace that has used two
// budgets; 0 or less means that this limit is off.
func New(world *projector.World, intake *intake.Intake, floodPace time.Duration) Gate {
	return Gate{
		world: world, intake: intake, floodPace: floodPace,
		objects: map[types.UID]*paced{}, new: newNewcomers(), counts: newCounts(), dues: due.New(cmp.Compare[types.UID]),
	}
}

// Step says what the caller must do with an observation: write Record, then record First and Then, in this order. Nil
// fields need nothing.
type Step struct {
	Record *projector.Draft // first write this record; nil for none
	// Past is the newest record in the log of the Job that First shows, as found when First arrived; nil if the log was
	// not read.
	Past        *Past
	First, Then *events.Observation // then record these; nil for none
	Size        int                 // bytes to count towards the limit of the turn, besides the records

	queued  bool // First has passed the admission queue `through`
	through doorway
	came    *paced    // the entry in which First has waited; nil for none
	gone    types.UID // UID of a deleted object; empty for none
}

// Past is the newest record of a Job in the log, as found when records up to Through were durable.
type Past struct {
	Newest  events.Sequence // 0 if the Job has no records
	Through events.Sequence
}

// Observe returns what to do with an observation. past is what the caller found in the log about the observed Job; nil
// if it did not look. ok is false if the turn must end before the observation: the observation begins a listing, and
// waiting versions must be recorded first, or they would count as part of the listing.
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

// Admitted tells the gate that step s was carried out. records are the records that First and Then gave.
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

// leaves returns the step for the deletion of an object. An object that has no record gets none, and is only counted.
func (g *Gate) leaves(now events.Time, o *events.Observation, object events.Object) (s Step) {
	s = Step{gone: object.UID}
	if n := g.new.held[object.UID]; n != nil {
		g.passBy(&s, now, o, object, 1+n.passed)
		g.leave(object.UID)
		return s
	}
	p := g.objects[object.UID]
	switch {
	// If the first observation of a node or a namespace is its deletion, and nodes and namespaces are over their log
	// budget (flooded), only count it
	case p == nil && g.intake.First(o) && !g.world.Listing && g.excess(o.Namespace(), now) == flooded:
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

// holdBack keeps a version of an object that comes too early to be recorded. It replaces an older version that waits.
// held reports whether the version is kept; otherwise it is to be recorded now.
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
	// A new object waits for the time floodPace before its first record: if it is deleted meanwhile, it is only counted
	if p == nil {
		p = &paced{next: now.Add(g.floodPace), first: true, namespace: o.Namespace()}
		g.objects[object.UID] = p
	}
	if p.held == nil {
		g.hold(&s, now, p.namespace)
		p.held = o
		g.dues.Set(object.UID, p.next) // set it again: during a listing, NextHeld may have removed it early
		return s, true
	}
	p.passed++
	g.passed++
	if p.held.Object().Version <= object.Version {
		p.held = o
	}
	return s, true
}

// Delivers returns how many of a turn's bytes may be used for versions that have waited: half of them, or all during a
// listing and right before one.
func (g *Gate) Delivers(turn int) int {
	if g.all() {
		return turn
	}
	return turn / 2
}

// all reports whether waiting versions are recorded before their time, because a listing runs or is about to begin.
func (g *Gate) all() bool { return g.world.Listing || g.flush }

// due returns the time up to which waits count as over: usually now, or the end of time if all versions are to be
// recorded. ok is false if no version waits.
func (g *Gate) due(now events.Time) (until events.Time, ok bool) {
	if g.all() {
		return math.MaxInt64, g.holding > 0
	}
	return now, true
}

// NextHeld returns the step for a version of an object that has waited long enough; ok is false for none.
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

// Delivered tells the gate that NextHeld and NextQueued were called in this turn until they had nothing, or the turn
// was full.
func (g *Gate) Delivered() { g.flush = g.flush && g.holding > 0 }

// overtaken drops the version of an object that waits, because the same or a newer version is recorded now. It returns
// how many versions of the object were dropped since its newest record.
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

// came notes that the version of object uid that had waited was passed on. If it gave no record, the object is no
// longer limited.
func (g *Gate) came(x *paced, uid types.UID, now events.Time) {
	if x.first = false; x.next <= now && x.passed == 0 {
		delete(g.objects, uid)
	}
}

func (g *Gate) forget(uid types.UID) {
	delete(g.objects, uid)
	g.dues.Set(uid, 0)
}

// ForgetAll drops all versions that wait to be recorded, because the cluster was restored to an earlier state.
func (g *Gate) ForgetAll() {
	passed, cluster := g.passed+uint64(g.holding), g.cluster
	*g = New(g.world, g.intake, g.floodPace)
	g.passed, g.cluster = passed, cluster
}

// PassedOver returns how many versions were seen but not recorded since the process started.
func (g *Gate) PassedOver() uint64 { return g.passed }

// Wake returns when the next waiting version may be recorded, or the next count is due; 0 for never.
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

// Shift moves all times by a step of the wall clock, so that waits last as long as before.
func (g *Gate) Shift(step time.Duration) {
	for _, x := range g.objects {
		x.next = x.next.Add(step)
	}
	g.dues.Shift(step)
	g.new.shift(step)
	g.counts.shift(step)
	g.cluster.Shift(step)
}

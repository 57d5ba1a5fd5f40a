package loop

import (
	"cmp"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Rate limit per namespace. Any client that may write objects can cause records without end, and a full log stops all
// Jobs. So each namespace has a budget of log bytes per hour (events.Settings.NamespaceBudget), for all its objects.
//
//	bytes used           what is recorded
//	-------------------  -----------------------------------------------------------------
//	up to the budget     everything
//	over the budget      no texts of pod templates
//	a quarter over it    also one version per object and second, the newest; new Jobs and
//	                     CronJobs queue (arrive)
//	about two budgets    one version per object and minute; other new objects wait a
//	                     minute, then come in at the pace of the budget (comeIn)
//
// A version that comes too early is held back. It is not an input yet, as if the watch were slower, so nothing is
// folded that is not recorded, and a replay needs no budgets. Observations that cannot wait (projector.Intake.Awaited)
// and listings are never held back. New objects that are deleted while they wait become one record with their number
// (passBy). Nodes and namespaces belong to no namespace and share a budget of the same size.

const (
	paceEvery = time.Second // minimum time between two recorded versions of an object
	heldCost  = 64          // bytes that a held-back version counts towards a turn's inputs
)

// floodPace replaces paceEvery in a namespace over two budgets.
const floodPace = time.Minute

// pace holds back versions, and tracks recent records of objects in namespaces over budget. A crash loses it, like
// queued inputs: the next start's listing shows the newest version of every object. An open record (pass) says that
// counts may then be incomplete.
type pace struct {
	objects map[types.UID]*paced
	dues    delayingQueue[types.UID] // when each object's next version may be recorded
	new     newcomers
	went    wents
	cluster projector.Bucket // nodes and namespaces: bytes that this process recorded
	holding int              // number of held-back versions, including new Jobs
	flush   bool             // deliver all, since a listing begins
	passed  uint64           // versions dropped since the start
}

type paced struct {
	next   events.Time         // earliest time of the next recorded version
	held   *events.Observation // newest version since its newest record; nil for none
	passed uint64              // versions seen after the newest record and before held
	first  bool                // nothing of it is recorded yet

	namespace string
}

func newPace() pace {
	return pace{
		objects: map[types.UID]*paced{}, new: newNewcomers(), went: newWents(), dues: newDelayingQueue(cmp.Compare[types.UID]),
	}
}

// excess says how far a namespace is over its budget.
type excess uint8

const (
	within       excess = iota
	withoutTexts        // no texts of pod templates
	atPace              // also one version per object and second
	flooded             // one per minute
)

// excess returns what may be recorded of a namespace. Texts are dropped a quarter of the budget before versions are
// held back.
func (l *Loop) excess(namespace string, now events.Time) excess {
	budget := l.world.Settings.NamespaceBudget
	if budget == 0 {
		return within
	}
	share := l.world.Share(namespace, now)
	if namespace == "" {
		share = l.pace.cluster.Left(now, budget)
	}
	switch {
	case projector.Full(share, budget) && l.floodPace > 0:
		return flooded
	case share > budget+budget/4:
		return atPace
	case share > budget:
		return withoutTexts
	}
	return within
}

// every returns the minimum time between two recorded versions of an object.
func (l *Loop) every(x excess) time.Duration {
	if x == flooded {
		return l.floodPace
	}
	return paceEvery
}

// observe takes in an observation. ok is false if the turn must end before it: a listing begins, and held-back
// versions must be delivered first, so that they do not count as part of the listing.
func (l *Loop) observe(b *batch, o *events.Observation) (size int, ok bool) {
	if _, listing := o.Facts.(*events.ListingStarted); listing && l.pace.holding > 0 {
		l.pace.flush = true
		return 0, false
	}
	object := o.Object()
	if object.Gone {
		return l.leaves(b, o, object), true
	}
	if l.doored(o) || l.pace.new.held[object.UID] != nil {
		return l.arrive(b, o), true
	}
	if l.holdBack(b, o, object) {
		return heldCost, true
	}
	return l.admit(b, o), true
}

// leaves takes in the deletion of an object. For an object without a record only a count is kept.
func (l *Loop) leaves(b *batch, o *events.Observation, object events.Object) (size int) {
	defer l.pace.forget(object.UID)
	if n := l.pace.new.held[object.UID]; n != nil {
		l.passBy(b, o, object, 1+n.passed)
		l.pace.leave(object.UID)
		return heldCost
	}
	p := l.pace.objects[object.UID]
	switch {
	case p == nil && l.intake.First(o) && !l.world.Listing && l.excess(o.Namespace(), b.time) == flooded: // of no namespace
		l.passBy(b, o, object, 1)
		return heldCost
	case p == nil || p.held == nil:
	case p.first:
		l.pace.take(p)
		l.passBy(b, o, object, 1+p.passed)
		return heldCost
	default:
		size = l.admit(b, l.pace.take(p))
	}
	return size + l.admit(b, o)
}

// holdBack holds back a version that comes too early, replacing an older held-back one. It reports whether it did.
func (l *Loop) holdBack(b *batch, o *events.Observation, object events.Object) bool {
	p := l.pace.objects[object.UID]
	if object.UID == "" || l.world.Listing || l.pace.flush || p != nil && b.time >= p.next {
		return false
	}
	x := l.excess(o.Namespace(), b.time)
	if x < atPace || p == nil && (x < flooded || !l.intake.First(o)) || l.intake.Awaited(o) {
		return false
	}
	if p == nil { // it may be deleted before its minute is over
		p = &paced{next: b.time.Add(l.floodPace), first: true, namespace: o.Namespace()}
		l.pace.objects[object.UID] = p
	}
	if p.held == nil {
		l.hold(b, p.namespace)
		p.held = o
		l.pace.dues.set(object.UID, p.next) // a listing may have removed it early
		return true
	}
	p.passed++
	l.pace.passed++
	if p.held.Object().Version <= object.Version {
		p.held = o
	}
	return true
}

// overtaken drops the held-back version of an object that is admitted in the same or a newer version. It returns how
// many versions were dropped since the object's newest record.
func (p *pace) overtaken(uid types.UID, version uint64) uint64 {
	if n := p.new.held[uid]; n != nil {
		held := n.seen.Object().Version
		if held > version {
			return 0
		}
		if held < version {
			n.passed++
			p.passed++
		}
		return p.leave(uid)
	}
	x := p.objects[uid]
	if x == nil {
		return 0
	}
	if x.held != nil {
		if held := x.held.Object().Version; held <= version {
			p.take(x)
			if held < version {
				x.passed++
				p.passed++
			}
		}
	}
	return x.passed
}

func (p *pace) take(x *paced) *events.Observation {
	o := x.held
	x.held = nil
	p.release(x.namespace)
	return o
}

// came records that a held-back version was admitted. If that gave no record, the object's limit ends.
func (p *pace) came(x *paced, uid types.UID, now events.Time) {
	if x.first = false; x.next <= now && x.passed == 0 {
		delete(p.objects, uid)
	}
}

func (p *pace) forget(uid types.UID) {
	delete(p.objects, uid)
	p.dues.set(uid, 0)
}

// forgetAll drops all held-back versions after a rewind of the cluster.
func (p *pace) forgetAll() {
	passed, cluster := p.passed+uint64(p.holding), p.cluster
	*p = newPace()
	p.passed, p.cluster = passed, cluster
}

// recorded starts the wait for an object's next version.
func (p *pace) recorded(uid types.UID, namespace string, next events.Time) {
	x := p.objects[uid]
	if x == nil {
		x = &paced{namespace: namespace}
		p.objects[uid] = x
	}
	x.next, x.passed, x.first = next, 0, false
	p.dues.set(uid, next)
}

// deliver admits held-back versions whose wait is over; all of them during a listing and before one begins. It leaves
// half of the turn to other inputs.
func (l *Loop) deliver(b *batch) (size int) {
	all := l.world.Listing || l.pace.flush
	until, most := b.time, turnInputs/2
	if all {
		until, most = math.MaxInt64, turnInputs
	}
	for size < most && (!all || l.pace.holding > 0) {
		uid, ok := l.pace.dues.due(until)
		if !ok {
			break
		}
		switch x := l.pace.objects[uid]; {
		case x.held != nil && x.first && !all:
			size += l.comeIn(b, x)
		case x.held != nil:
			size += l.admit(b, l.pace.take(x))
			l.pace.came(x, uid, b.time)
		case x.passed == 0:
			delete(l.pace.objects, uid)
		}
	}
	size += l.openDoors(b, until, most-size, all)
	l.tellWent(b)
	l.pace.flush = l.pace.flush && l.pace.holding > 0
	return size
}

// wake returns when a held-back version or a count is due; 0 for never.
func (p *pace) wake(now events.Time, listing bool) events.Time {
	switch {
	case p.holding > 0 && (listing || p.flush):
		return now
	case p.holding == 0:
		return p.went.dues.first()
	}
	first := events.Time(0)
	for _, due := range []events.Time{p.dues.first(), p.new.dues.first(), p.went.dues.first()} {
		if due != 0 && (first == 0 || due < first) {
			first = due
		}
	}
	return first
}

// shift moves all times by a clock step.
func (p *pace) shift(step time.Duration) {
	for _, x := range p.objects {
		x.next = x.next.Add(step)
	}
	p.dues.shift(step)
	p.new.shift(step)
	p.went.shift(step)
	p.cluster.Shift(step)
}

// sparingly cuts the drafts of an observation to its namespace's budget.
func (l *Loop) sparingly(b *batch, o *events.Observation, drafts []projector.Draft) {
	object, namespace := o.Object(), o.Namespace()
	if object.Gone {
		object.Version = math.MaxUint64
	}
	passed := l.pace.overtaken(object.UID, object.Version)
	if len(drafts) == 0 || object.UID == "" {
		return
	}
	x := l.excess(namespace, b.time)
	for i := range drafts {
		e := &drafts[i].Evidence
		if x >= withoutTexts {
			e.Template = nil
		}
		if l.world.Settings.NamespaceBudget > 0 && e.Namespace == "" && l.world.RefOf(drafts[i].Stream).Namespace == "" {
			e.Namespace = namespace // a spec comes before its Job, and counts for the same namespace
		}
		if namespace == "" && drafts[i].Stream == events.Controller {
			rec := events.Record{Facts: drafts[i].Facts, Evidence: *e}
			l.pace.cluster.Add(events.Weight(&rec), b.time, l.world.Settings.NamespaceBudget)
		}
	}
	if passed > 0 {
		drafts[len(drafts)-1].Evidence.PassedOver += passed
	}
	if x >= atPace {
		l.pace.recorded(object.UID, namespace, b.time.Add(l.every(x)))
	} else if o := l.pace.objects[object.UID]; o == nil {
		return
	} else if passed > 0 && o.held == nil {
		l.pace.forget(object.UID)
	} else if passed > 0 {
		o.passed = 0 // counted; the newer held-back version follows
	}
}

// PassedOver returns how many versions were seen but not recorded since the start.
func (l *Loop) PassedOver() uint64 { return l.pace.passed }

// leave removes a Job from its admission queue, if it is still there, and returns how many versions of it were
// dropped.
func (p *pace) leave(uid types.UID) (passed uint64) {
	n := p.new.held[uid]
	if n == nil {
		return 0
	}
	delete(p.new.held, uid)
	p.release(n.namespace)
	n.seen = nil
	if d := p.new.doors[n.doorway]; n.queued {
		d.left++
		if d.left > 16+len(d.waiting)/2 {
			d.waiting, d.left = slices.DeleteFunc(d.waiting, func(n *newcomer) bool { return n.seen == nil }), 0
		}
	}
	return n.passed
}

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

// Whoever may write objects can make records without end, and a log that is full stops the Jobs of all. So a namespace
// has a budget of log in an hour (events.Settings.NamespaceBudget), whatever its objects are. Beyond it, first the
// texts of pod templates are left out; then of each of its objects one version in a second is recorded, the newest;
// beyond two budgets, one in a minute. A version that comes too early is held back: it is no input yet, as if the watch
// were slower. So nothing is folded that is not recorded, and a replay knows nothing of budgets. What cannot wait
// (projector.Intake.Awaited) and what a listing shows is never held back. New Jobs and CronJobs wait for each other
// (arrive). Beyond two budgets other new objects wait for a minute, too; those that go before are one record with their
// number (passBy), and the others come in at the pace of the budget (comeIn). Nodes and namespaces, which are in no
// namespace, share a budget of the same size.

const (
	paceEvery = time.Second // between two versions of an object that are recorded
	heldCost  = 64          // bytes that a version which is held back counts among the inputs of a turn
)

// floodPace is that of a namespace beyond two budgets.
const floodPace = time.Minute

// pace is what is held back, and what was recorded lately of objects whose namespaces are over their budgets. It is
// lost in a crash, like inputs that wait: the listing of the next start shows the newest version of every object. An
// open record (pass) says that counts may be missing then.
type pace struct {
	objects map[types.UID]*paced
	dues    delayingQueue[types.UID] // when the next version of each may be recorded
	new     newcomers
	went    wents
	cluster projector.Bucket // of nodes and namespaces: what this process recorded of them
	holding int              // versions that are held back, those of new Jobs among them
	flush   bool             // all of them are due, as a listing begins
	passed  uint64           // versions that were passed over, since the start
}

type paced struct {
	next   events.Time         // when a version may be recorded again
	held   *events.Observation // the newest version seen since its newest record; nil for none
	passed uint64              // versions seen before held and after the newest record
	first  bool                // nothing is recorded of it

	namespace string
}

func newPace() pace {
	return pace{
		objects: map[types.UID]*paced{}, new: newNewcomers(), went: newWents(), dues: newDelayingQueue(cmp.Compare[types.UID]),
	}
}

// excess is how far a namespace is beyond its budget.
type excess uint8

const (
	within       excess = iota
	withoutTexts        // of pod templates
	atPace              // and one version of an object in a second
	flooded             // and in a minute
)

// excess says what may be recorded of a namespace. Texts go a quarter of the budget before versions do.
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

// every is the time between two versions of an object.
func (l *Loop) every(x excess) time.Duration {
	if x == flooded {
		return l.floodPace
	}
	return paceEvery
}

// observe takes an observation of the informer's. ok is false when the turn has to end before it: a listing begins, and
// what is held back comes first, so that it is not taken for part of the listing.
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

// leaves takes the end of an object. Of one that has no record its end is nothing either, but a number.
func (l *Loop) leaves(b *batch, o *events.Observation, object events.Object) (size int) {
	defer l.pace.forget(object.UID)
	if n := l.pace.new.held[object.UID]; n != nil {
		l.passBy(b, o, object, 1+n.passed)
		l.pace.leave(object.UID)
		return heldCost
	}
	p := l.pace.objects[object.UID]
	switch {
	case p == nil && l.intake.First(o) && !l.world.Listing && l.excess(o.Namespace(), b.time) == flooded: // of a node or a namespace
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

// holdBack keeps a version that comes too early, in place of the one that is held back.
func (l *Loop) holdBack(b *batch, o *events.Observation, object events.Object) bool {
	p := l.pace.objects[object.UID]
	if object.UID == "" || l.world.Listing || l.pace.flush || p != nil && b.time >= p.next {
		return false
	}
	x := l.excess(o.Namespace(), b.time)
	if x < atPace || p == nil && (x < flooded || !l.intake.First(o)) || l.intake.Awaited(o) {
		return false
	}
	if p == nil { // perhaps it goes again before its minute is over
		p = &paced{next: b.time.Add(l.floodPace), first: true, namespace: o.Namespace()}
		l.pace.objects[object.UID] = p
	}
	if p.held == nil {
		l.hold(b, p.namespace)
		p.held = o
		l.pace.dues.set(object.UID, p.next) // a listing may have taken it out before its time
		return true
	}
	p.passed++
	l.pace.passed++
	if p.held.Object().Version <= object.Version {
		p.held = o
	}
	return true
}

// overtaken drops what is held back of an object that is admitted in the same version or a newer one. It returns how
// many versions were passed over since the object's newest record.
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

// came notes that a version that was held back was admitted: if it gave no record, its object has no pace.
func (p *pace) came(x *paced, uid types.UID, now events.Time) {
	if x.first = false; x.next <= now && x.passed == 0 {
		delete(p.objects, uid)
	}
}

func (p *pace) forget(uid types.UID) {
	delete(p.objects, uid)
	p.dues.set(uid, 0)
}

// forgetAll drops what is held back: it is of a past that the cluster does not have.
func (p *pace) forgetAll() {
	passed, cluster := p.passed+uint64(p.holding), p.cluster
	*p = newPace()
	p.passed, p.cluster = passed, cluster
}

// recorded begins the wait of an object.
func (p *pace) recorded(uid types.UID, namespace string, next events.Time) {
	x := p.objects[uid]
	if x == nil {
		x = &paced{namespace: namespace}
		p.objects[uid] = x
	}
	x.next, x.passed, x.first = next, 0, false
	p.dues.set(uid, next)
}

// deliver admits what was held back and whose wait is over: all of it while the cluster is listed, and when a listing
// begins. It leaves half of the turn to other inputs.
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

// wake is when something that is held back is due, or a number to be told; 0 for never.
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

// shift moves all times with the clock.
func (p *pace) shift(step time.Duration) {
	for _, x := range p.objects {
		x.next = x.next.Add(step)
	}
	p.dues.shift(step)
	p.new.shift(step)
	p.went.shift(step)
	p.cluster.Shift(step)
}

// sparingly fits the drafts of an observation into the budget of its namespace.
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
			e.Namespace = namespace // a spec is recorded before its Job, and is the namespace's all the same
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
		o.passed = 0 // told; the newer version that is held back comes later
	}
}

// PassedOver is how many versions were seen and not recorded since the start.
func (l *Loop) PassedOver() uint64 { return l.pace.passed }

// leave takes a Job from the door, and returns how many versions of it were passed over. It may be there no longer.
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

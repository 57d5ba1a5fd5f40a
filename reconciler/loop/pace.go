package loop

import (
	"cmp"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Whoever may patch a Job can make records without end, and a log that is full stops the Jobs of all. So a namespace has a budget
// of log in an hour (events.Settings.NamespaceBudget). Beyond it, first the texts of pod templates are left out; then of each of
// its objects one version in a second is recorded, the newest. One that comes too early is held back: it is no input yet, as if
// the watch were slower by up to a second. So nothing is folded that is not recorded, and a replay knows nothing of budgets.
// What cannot wait (projector.Intake.Awaited) and what a listing shows is never held back. New Jobs wait for each other (arrive).

const (
	paceEvery = time.Second // between two versions of an object that are recorded
	heldCost  = 64          // bytes that a version which is held back counts among the inputs of a turn
)

// pace is what is held back, and what was recorded within the last second of objects whose namespaces are over their budgets.
// It is lost in a crash, like inputs that wait: the listing of the next start shows the newest version of every object.
type pace struct {
	objects map[types.UID]*paced
	dues    delayingQueue[types.UID] // when the second of each is over
	new     newcomers
	holding int    // versions that are held back, those of new Jobs among them
	flush   bool   // all of them are due, as a listing begins
	passed  uint64 // versions that were passed over, since the start
}

type paced struct {
	recorded events.Time         // when its newest record was written
	held     *events.Observation // the newest version seen since; nil for none
	passed   uint64              // versions seen before held and after recorded
}

func newPace() pace {
	return pace{objects: map[types.UID]*paced{}, new: newNewcomers(), dues: newDelayingQueue(cmp.Compare[types.UID])}
}

// excess is how far a namespace is beyond its budget.
type excess uint8

const (
	within       excess = iota
	withoutTexts        // of pod templates
	atPace              // and one version of an object in a second
)

// excess says what may be recorded of a namespace. Texts go a quarter of the budget before versions do.
func (l *Loop) excess(namespace string, now events.Time) excess {
	budget := l.world.Settings.NamespaceBudget
	if budget == 0 {
		return within
	}
	switch share := l.world.Share(namespace, now); {
	case share > budget+budget/4:
		return atPace
	case share > budget:
		return withoutTexts
	}
	return within
}

// objectOf is the object that an observation shows, and its version; empty when it shows none.
func objectOf(o *events.Observation) (uid types.UID, version uint64) {
	switch f := o.Facts.(type) {
	case *events.JobSeen:
		return o.Job.UID, f.Version
	case *events.PodSeen:
		return f.UID, f.Version
	}
	return "", 0
}

// goneObject is the object whose end an observation tells; empty for none.
func goneObject(o *events.Observation) types.UID {
	switch f := o.Facts.(type) {
	case *events.JobGone:
		return o.Job.UID
	case *events.PodGone:
		return f.UID
	}
	return ""
}

func namespaceOf(o *events.Observation) string {
	if o.Evidence.Namespace != "" {
		return o.Evidence.Namespace
	}
	return o.Job.Namespace
}

// observe takes an observation of the informer's. ok is false when the turn has to end before it: a listing begins, and
// what is held back comes first, so that it is not taken for part of the listing.
func (l *Loop) observe(b *batch, o *events.Observation) (size int, ok bool) {
	if _, listing := o.Facts.(*events.ListingStarted); listing && l.pace.holding > 0 {
		l.pace.flush = true
		return 0, false
	}
	if l.intake.First(o) {
		return l.arrive(b, o), true
	}
	if l.holdBack(b, o) {
		return heldCost, true
	}
	if uid := goneObject(o); uid != "" {
		if n := l.pace.new.held[uid]; n != nil { // nothing was recorded of it, so its end is nothing either
			l.pace.passed++
			l.pace.leave(uid)
		}
		if p := l.pace.objects[uid]; p != nil && p.held != nil {
			size = l.admit(b, l.pace.take(p))
		}
		defer l.pace.forget(uid)
	}
	return size + l.admit(b, o), true
}

// holdBack keeps a version that comes too early, in place of the one that is held back.
func (l *Loop) holdBack(b *batch, o *events.Observation) bool {
	uid, version := objectOf(o)
	p := l.pace.objects[uid]
	if p == nil || l.world.Listing || l.pace.flush || b.time.Sub(p.recorded) >= paceEvery {
		return false
	}
	if l.excess(namespaceOf(o), b.time) < atPace || l.intake.Awaited(o) {
		return false
	}
	if p.held == nil {
		l.pace.holding++
		p.held = o
		l.pace.dues.set(uid, p.recorded.Add(paceEvery)) // a listing may have taken it out before its time
		return true
	}
	p.passed++
	l.pace.passed++
	if _, older := objectOf(p.held); older <= version {
		p.held = o
	}
	return true
}

// overtaken drops what is held back of an object that is admitted in the same version or a newer one. It returns how many
// versions were passed over since the object's newest record.
func (p *pace) overtaken(uid types.UID, version uint64) uint64 {
	if n := p.new.held[uid]; n != nil {
		held := n.seen.Facts.(*events.JobSeen).Version
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
		if _, held := objectOf(x.held); held <= version {
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
	p.holding--
	return o
}

func (p *pace) forget(uid types.UID) {
	delete(p.objects, uid)
	p.dues.set(uid, 0)
}

// forgetAll drops what is held back: it is of a past that the cluster does not have.
func (p *pace) forgetAll() {
	passed := p.passed + uint64(p.holding)
	*p = newPace()
	p.passed = passed
}

// recorded begins the second of an object.
func (p *pace) recorded(uid types.UID, now events.Time) {
	x := p.objects[uid]
	if x == nil {
		x = &paced{}
		p.objects[uid] = x
	}
	x.recorded, x.passed = now, 0
	p.dues.set(uid, now.Add(paceEvery))
}

// deliver admits what was held back and whose second is over: all of it while the cluster is listed, and when a listing begins. It
// leaves half of the turn to other inputs.
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
		case x.held != nil:
			size += l.admit(b, l.pace.take(x))
		case x.passed == 0:
			delete(l.pace.objects, uid)
		}
	}
	size += l.openDoors(b, until, most-size, all)
	l.pace.flush = l.pace.flush && l.pace.holding > 0
	return size
}

// wake is when something that is held back is due; 0 for never.
func (p *pace) wake(now events.Time, listing bool) events.Time {
	switch {
	case p.holding == 0:
		return 0
	case listing || p.flush:
		return now
	}
	first, door := p.dues.first(), p.new.dues.first()
	if first == 0 || door != 0 && door < first {
		return door
	}
	return first
}

// shift moves all times with the clock.
func (p *pace) shift(step time.Duration) {
	for _, x := range p.objects {
		x.recorded = x.recorded.Add(step)
	}
	p.dues.shift(step)
	p.new.shift(step)
}

// sparingly fits the drafts of an observation into the budget of its namespace.
func (l *Loop) sparingly(b *batch, o *events.Observation, drafts []projector.Draft) {
	uid, version := objectOf(o)
	if uid == "" {
		uid, version = goneObject(o), math.MaxUint64
	}
	passed := l.pace.overtaken(uid, version)
	if len(drafts) == 0 || uid == "" {
		return
	}
	x := l.excess(namespaceOf(o), b.time)
	for i := range drafts {
		e := &drafts[i].Evidence
		if x >= withoutTexts {
			e.Template = nil
		}
		if l.world.Settings.NamespaceBudget > 0 && e.Namespace == "" && l.world.RefOf(drafts[i].Stream).Namespace == "" {
			e.Namespace = namespaceOf(o) // a spec is recorded before its Job, and is the namespace's all the same
		}
	}
	if passed > 0 {
		drafts[len(drafts)-1].Evidence.PassedOver += passed
	}
	if x >= atPace {
		l.pace.recorded(uid, b.time)
	} else if o := l.pace.objects[uid]; o == nil {
		return
	} else if passed > 0 && o.held == nil {
		l.pace.forget(uid)
	} else if passed > 0 {
		o.passed = 0 // told; the newer version that is held back comes later
	}
}

// PassedOver is how many versions were seen and not recorded since the start.
func (l *Loop) PassedOver() uint64 { return l.pace.passed }

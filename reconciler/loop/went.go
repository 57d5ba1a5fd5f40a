package loop

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Objects that come and go are too many to be recorded each, in a namespace that is over two budgets: a user makes bare
// pods that name a suspended Job, and each would be seen, deleted and gone in five records. So a new object of such a
// namespace waits for a minute. One that goes before has no record, and is counted.
//
// The counts are recorded by namespace (events.PassedOver):
//
//	12:00:00  open    0 went                   before the first version is held back, in the same batch
//	12:01:00  open    3012 pods went           once a minute while versions are held back
//	12:02:00  open    2977 pods went
//	12:02:40          the controller is killed: what was passed over since 12:02:00 is counted nowhere, and the open record says so
//
// A killed controller forgets its counts. So nothing is passed over, or held back, unless the newest record of the
// namespace is open.

// wents are the namespaces of which versions are held back or passed over, each with what its newest record does not
// count yet.
type wents struct {
	of   map[string]*went
	dues delayingQueue[string]
}

type went struct {
	since    events.Time // of the newest record
	objects  map[events.ObjectResource]uint64
	versions uint64
	holding  int // versions that are held back
}

func newWents() wents {
	return wents{of: map[string]*went{}, dues: newDelayingQueue(cmp.Compare[string])}
}

// pass begins to pass over versions of a namespace, unless it does already: the log says so first.
func (l *Loop) pass(b *batch, namespace string) *went {
	w := l.pace.went.of[namespace]
	if w == nil {
		w = &went{since: b.time, objects: map[events.ObjectResource]uint64{}}
		l.pace.went.of[namespace] = w
		l.recordWent(b, namespace, w, true)
	}
	return w
}

// hold counts a version that is held back from now on.
func (l *Loop) hold(b *batch, namespace string) {
	l.pass(b, namespace).holding++
	l.pace.holding++
}

// release counts a version that is held back no longer.
func (p *pace) release(namespace string) {
	p.went.of[namespace].holding--
	p.holding--
}

// passBy counts an object that went without a record, and the versions of it that were seen and not counted yet as
// passed over.
func (l *Loop) passBy(b *batch, o *events.Observation, object events.Object, versions uint64) {
	w := l.pass(b, o.Namespace())
	l.pace.passed++
	w.objects[object.Resource]++
	w.versions += versions
}

// tellWent records the counts of namespaces whose minute is over. Once nothing is held back any more, the record is the
// last.
func (l *Loop) tellWent(b *batch) {
	for {
		namespace, ok := l.pace.went.dues.due(b.time)
		if !ok {
			return
		}
		w := l.pace.went.of[namespace]
		if w.holding == 0 {
			w.versions += l.pace.untold(namespace, false)
		}
		l.recordWent(b, namespace, w, w.holding > 0)
	}
}

// tellAllWent records all counts. The process stops: a record stays open where versions are held back, as none of those
// has a record, nor a count, before the next start. Or the cluster went back, and what is held back is passed over for
// good.
func (l *Loop) tellAllWent(b *batch, stops bool) {
	for _, namespace := range slices.Sorted(maps.Keys(l.pace.went.of)) {
		w := l.pace.went.of[namespace]
		w.versions += l.pace.untold(namespace, !stops)
		l.recordWent(b, namespace, w, stops && w.holding > 0)
	}
}

// recordWent records what was counted of a namespace. Behind an open record it counts anew, and the next record is due
// in a minute.
func (l *Loop) recordWent(b *batch, namespace string, w *went, open bool) {
	facts := &events.PassedOver{Since: w.since, Versions: w.versions, Open: open}
	for _, r := range slices.Sorted(maps.Keys(w.objects)) {
		facts.Went = append(facts.Went, events.ObjectsWent{Resource: r, Objects: w.objects[r]})
	}
	l.put(b, projector.Draft{
		Stream: events.Controller, Kind: events.KindPassedOver, Facts: facts, Evidence: events.Evidence{Namespace: namespace},
	})
	if !open {
		delete(l.pace.went.of, namespace)
		l.pace.went.dues.set(namespace, 0)
		return
	}
	clear(w.objects)
	w.since, w.versions = b.time, 0
	l.pace.went.dues.set(namespace, b.time.Add(floodPace))
}

// untold takes the counts of versions that were passed over and that no record of their object tells yet, of one
// namespace: the namespace's record tells them. With held, the versions that are held back are among them.
func (p *pace) untold(namespace string, held bool) (versions uint64) {
	for uid, x := range p.objects {
		if x.passed == 0 && x.held == nil || x.namespace != namespace {
			continue
		}
		versions += x.passed
		x.passed = 0
		switch {
		case x.held == nil:
			p.forget(uid)
		case held:
			versions++
		}
	}
	for _, n := range p.new.held {
		if n.namespace == namespace {
			versions += n.passed
			n.passed = 0
			if held {
				versions++
			}
		}
	}
	return versions
}

// shift moves all times with the clock.
func (w *wents) shift(step time.Duration) {
	for _, x := range w.of {
		x.since = x.since.Add(step)
	}
	w.dues.shift(step)
}

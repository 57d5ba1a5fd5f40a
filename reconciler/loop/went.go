package loop

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// In a namespace over two budgets, short-lived objects are too many to record each. Example: a user creates bare pods
// that name a suspended Job, and each takes five records until it is gone. So a new object of such a namespace waits
// for a minute. An object that is deleted before has no record, and is only counted.
//
// The counts are recorded by namespace (events.PassedOver):
//
//	12:00:00  open    0 went                   before the first version is held back, in the same batch
//	12:01:00  open    3012 pods went           once a minute while versions are held back
//	12:02:00  open    2977 pods went
//	12:02:40          the controller is killed: the counts since 12:02:00 are lost, and the open record says so
//
// A killed controller loses its counts. So nothing is dropped or held back unless the namespace's newest record is
// open.

// wents holds the namespaces with held-back or dropped versions, and their counts since the newest record.
type wents struct {
	of   map[string]*went
	dues delayingQueue[string]
}

type went struct {
	since    events.Time // of the newest record
	objects  map[events.ObjectResource]uint64
	versions uint64
	holding  int // number of held-back versions
}

func newWents() wents {
	return wents{of: map[string]*went{}, dues: newDelayingQueue(cmp.Compare[string])}
}

// pass starts counting for a namespace, unless it has started already. It first writes an open record.
func (l *Loop) pass(b *batch, namespace string) *went {
	w := l.pace.went.of[namespace]
	if w == nil {
		w = &went{since: b.time, objects: map[events.ObjectResource]uint64{}}
		l.pace.went.of[namespace] = w
		l.recordWent(b, namespace, w, true)
	}
	return w
}

// hold counts a version as held back.
func (l *Loop) hold(b *batch, namespace string) {
	l.pass(b, namespace).holding++
	l.pace.holding++
}

// release uncounts a held-back version.
func (p *pace) release(namespace string) {
	p.went.of[namespace].holding--
	p.holding--
}

// passBy counts an object that was deleted without a record, and its uncounted versions as dropped.
func (l *Loop) passBy(b *batch, o *events.Observation, object events.Object, versions uint64) {
	w := l.pass(b, o.Namespace())
	l.pace.passed++
	w.objects[object.Resource]++
	w.versions += versions
}

// tellWent records the counts of namespaces whose minute is over. If nothing is held back any more, the record closes
// the count.
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

// tellAllWent records all counts. If the process stops, a record stays open where versions are held back, because they
// have neither a record nor a count before the next start. After a rewind (stops is false) held-back versions are
// dropped and counted.
func (l *Loop) tellAllWent(b *batch, stops bool) {
	for _, namespace := range slices.Sorted(maps.Keys(l.pace.went.of)) {
		w := l.pace.went.of[namespace]
		w.versions += l.pace.untold(namespace, !stops)
		l.recordWent(b, namespace, w, stops && w.holding > 0)
	}
}

// recordWent records a namespace's counts. After an open record counting starts again, and the next record is due in a
// minute.
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

// untold collects the dropped versions of a namespace's objects that no record of the object counts yet. With held,
// held-back versions are included.
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

// shift moves all times by a clock step.
func (w *wents) shift(step time.Duration) {
	for _, x := range w.of {
		x.since = x.since.Add(step)
	}
	w.dues.shift(step)
}

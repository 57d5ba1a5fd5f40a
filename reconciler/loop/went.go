package loop

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Objects that come and go are too many to be recorded each, in a namespace that is over two budgets: a user makes bare pods that name a
// suspended Job, and each would be seen, deleted and gone in five records. So a new object of such a namespace waits for a minute. One
// that goes before has no record; once a minute a record of the namespace says how many went (events.PassedOver).

// wents are what went without a record, by namespace, since the last record of it.
type wents struct {
	of   map[string]*went
	dues delayingQueue[string]
}

type went struct {
	since    events.Time
	objects  map[events.ObjectResource]uint64
	versions uint64
}

func newWents() wents {
	return wents{of: map[string]*went{}, dues: newDelayingQueue(cmp.Compare[string])}
}

// passBy counts an object that went without a record, and the versions of it that were seen and not counted yet as passed over.
func (l *Loop) passBy(b *batch, o *events.Observation, object events.Object, versions uint64) {
	namespace, p := o.Namespace(), &l.pace
	p.passed++
	w := p.went.of[namespace]
	if w == nil {
		w = &went{since: b.time, objects: map[events.ObjectResource]uint64{}}
		p.went.of[namespace] = w
		p.went.dues.set(namespace, b.time.Add(floodPace))
	}
	w.objects[object.Resource]++
	w.versions += versions
}

// tellWent records the numbers whose minute is over.
func (l *Loop) tellWent(b *batch) {
	for {
		namespace, ok := l.pace.went.dues.due(b.time)
		if !ok {
			return
		}
		l.recordWent(b, namespace)
	}
}

// tellAllWent records all numbers: the process stops.
func (l *Loop) tellAllWent(b *batch) {
	for _, namespace := range slices.Sorted(maps.Keys(l.pace.went.of)) {
		l.pace.went.dues.set(namespace, 0)
		l.recordWent(b, namespace)
	}
}

func (l *Loop) recordWent(b *batch, namespace string) {
	w := l.pace.went.of[namespace]
	delete(l.pace.went.of, namespace)
	facts := &events.PassedOver{Since: w.since, Versions: w.versions}
	for _, r := range slices.Sorted(maps.Keys(w.objects)) {
		facts.Went = append(facts.Went, events.ObjectsWent{Resource: r, Objects: w.objects[r]})
	}
	l.put(b, projector.Draft{
		Stream: events.Controller, Kind: events.KindPassedOver, Facts: facts, Evidence: events.Evidence{Namespace: namespace},
	})
}

// shift moves all times with the clock.
func (w *wents) shift(step time.Duration) {
	for _, x := range w.of {
		x.since = x.since.Add(step)
	}
	w.dues.shift(step)
}

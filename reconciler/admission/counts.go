package admission

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/due"
)

// In a namespace that has used two log budgets, there are too many short-lived objects to record each. Example: a user
// creates bare pods that name a suspended Job, and each takes five records until it is deleted. So a new object of such
// a namespace waits for a minute. An object that is deleted within this minute gets no record, and is only counted.
//
// The counts of a namespace are written as events.PassedOver records. A record with the open mark says that counting
// continues:
//
//	12:00:00  open    0 went                   before the first version is held back, in the same batch
//	12:01:00  open    3012 pods went           once a minute while versions are held back
//	12:02:00  open    2977 pods went
//	12:02:40          the controller is killed: the counts since 12:02:00 are lost, and the open record says so
//
// A killed controller loses its counts, but the open record tells a reader that counts are missing. So no version is
// dropped or held back unless the namespace's newest record is open.

// counts has an entry for each namespace of which versions of objects wait to be recorded, or were dropped. An entry
// counts since the namespace's newest events.PassedOver record.
type counts struct {
	of   map[string]*count
	dues due.Queue[string]
}

type count struct {
	since    events.Time // time of the newest PassedOver record, from which on this counts
	objects  map[events.ObjectResource]uint64
	versions uint64
	holding  int // number of versions that wait to be recorded
}

func newCounts() counts {
	return counts{of: map[string]*count{}, dues: due.New(cmp.Compare[string])}
}

// pass returns the count of a namespace. If there is none yet, it begins one, and makes step s first write an open
// record (a PassedOver record that says that counts follow).
func (g *Gate) pass(s *Step, now events.Time, namespace string) *count {
	w := g.counts.of[namespace]
	if w == nil {
		w = &count{since: now, objects: map[events.ObjectResource]uint64{}}
		g.counts.of[namespace] = w
		s.Record = new(g.record(now, namespace, w, true))
	}
	return w
}

// hold counts one more version that waits to be recorded. If the namespace had no count, step s first writes an open
// record (a PassedOver record that says that counts follow).
func (g *Gate) hold(s *Step, now events.Time, namespace string) {
	g.pass(s, now, namespace).holding++
	g.holding++
}

// release counts one version less that waits to be recorded.
func (g *Gate) release(namespace string) {
	g.counts.of[namespace].holding--
	g.holding--
}

// passBy counts an object that was deleted before it got a record. versions is the number of its versions that were not
// recorded. s is the step that results.
func (g *Gate) passBy(s *Step, now events.Time, o *events.Observation, object events.Object, versions uint64) {
	s.Size = heldCost
	w := g.pass(s, now, o.Namespace())
	g.passed++
	w.objects[object.Resource]++
	w.versions += versions
}

// NextCount returns the PassedOver record (counts of versions that were not recorded) for the next namespace that has
// counted for a minute; ok is false for none. If no version of the namespace waits any more, the record ends the
// counting.
func (g *Gate) NextCount(now events.Time) (d projector.Draft, ok bool) {
	namespace, ok := g.counts.dues.Next(now)
	if !ok {
		return d, false
	}
	w := g.counts.of[namespace]
	if w.holding == 0 {
		w.versions += g.untold(namespace, false)
	}
	return g.record(now, namespace, w, w.holding > 0), true
}

// AllCounts returns a PassedOver record for each namespace that counts. When the process stops (stops is true), the
// record of a namespace with waiting versions says that counting continues, because these versions have neither a
// record nor a count until the next start. After the cluster was restored to an earlier state (stops is false), the
// waiting versions are dropped, and counted.
func (g *Gate) AllCounts(now events.Time, stops bool) (drafts []projector.Draft) {
	for _, namespace := range slices.Sorted(maps.Keys(g.counts.of)) {
		w := g.counts.of[namespace]
		w.versions += g.untold(namespace, !stops)
		drafts = append(drafts, g.record(now, namespace, w, stops && w.holding > 0))
	}
	return drafts
}

// record returns the PassedOver record with a namespace's counts. If it is open, counting starts again from zero, and
// the next record is due in a minute; otherwise counting ends.
func (g *Gate) record(now events.Time, namespace string, w *count, open bool) projector.Draft {
	facts := &events.PassedOver{Since: w.since, Versions: w.versions, Open: open}
	for _, r := range slices.Sorted(maps.Keys(w.objects)) {
		facts.Went = append(facts.Went, events.ObjectsWent{Resource: r, Objects: w.objects[r]})
	}
	if open {
		clear(w.objects)
		w.since, w.versions = now, 0
		g.counts.dues.Set(namespace, now.Add(FloodPace))
	} else {
		delete(g.counts.of, namespace)
		g.counts.dues.Set(namespace, 0)
	}
	return projector.Draft{
		Stream: events.Controller, Kind: events.KindPassedOver, Facts: facts, Evidence: events.Evidence{Namespace: namespace},
	}
}

// untold returns, and resets, the number of dropped versions of a namespace's objects that no record has counted yet.
// If held is set, it includes the versions that still wait.
func (g *Gate) untold(namespace string, held bool) (versions uint64) {
	for uid, x := range g.objects {
		if x.passed == 0 && x.held == nil || x.namespace != namespace {
			continue
		}
		versions += x.passed
		x.passed = 0
		switch {
		case x.held == nil:
			g.forget(uid)
		case held:
			versions++
		}
	}
	for _, n := range g.new.held {
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

// shift moves all times by a step of the wall clock, so that waits last as long as before.
func (w *counts) shift(step time.Duration) {
	for _, x := range w.of {
		x.since = x.since.Add(step)
	}
	w.dues.Shift(step)
}

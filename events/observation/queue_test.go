package observation

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func podSighting(name string, version uint64, p events.PodPhase) events.Observation {
	return events.Observation{
		Facts:    &events.PodSeen{UID: types.UID(name), Version: version, Phase: p},
		Evidence: events.Evidence{Name: name},
	}
}

func podEnd(name string, version uint64) events.Observation {
	return events.Observation{Facts: &events.PodGone{UID: types.UID(name), Version: version}}
}

func jobSighting(name string, version uint64) events.Observation {
	return events.Observation{
		Job:   events.JobRef{Name: name, UID: types.UID(name)},
		Facts: &events.JobSeen{Version: version, Managed: true},
	}
}

func drain(q *queue) []string {
	var lines []string
	for o, ok := q.take(); ok; o, ok = q.take() {
		lines = append(lines, line(o))
	}
	return lines
}

func TestQueue(t *testing.T) {
	started := func(r events.Resource) events.Observation {
		return events.Observation{Facts: &events.ListingStarted{Reason: events.ListingRelisted, Resources: []events.Resource{r}}}
	}
	synced := func(r events.Resource) events.Observation {
		return events.Observation{Facts: &events.Synced{Resources: []events.Resource{r}, Versions: []uint64{1}}}
	}
	for _, tt := range []struct {
		name string
		fill func(q *queue)
		want []string
	}{
		{"keeps the order of objects", func(q *queue) {
			q.seen(events.Pods, "b", podSighting("b", 1, events.PodRunning))
			q.seen(events.Pods, "a", podSighting("a", 2, events.PodRunning))
		}, []string{"pod b v1", "pod a v2"}},
		{"puts a newer sighting in the place of the older", func(q *queue) {
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodPending))
			q.seen(events.Pods, "b", podSighting("b", 2, events.PodRunning))
			q.seen(events.Pods, "a", podSighting("a", 3, events.PodSucceeded))
		}, []string{"pod a v3 Succeeded", "pod b v2"}},
		{"puts it behind a listing that began since", func(q *queue) {
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodPending))
			q.mark(started(events.Pods))
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodPending))
		}, []string{"listing [pods]: relist, seen []", "pod a v1"}},
		{"leaves it in its place when the listing is of another resource", func(q *queue) {
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodPending))
			q.mark(started(events.Jobs))
			q.seen(events.Pods, "a", podSighting("a", 2, events.PodPending))
		}, []string{"pod a v2", "listing [jobs]: relist, seen []"}},
		{"does not end a listing that was overtaken by another before it was told", func(q *queue) {
			q.mark(started(events.Pods))
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodPending))
			q.mark(synced(events.Pods))
			q.mark(synced(events.Jobs))
			q.mark(started(events.Pods))
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodPending))
			q.mark(synced(events.Pods))
		}, []string{
			"listing [pods]: relist, seen []", "synced [jobs] at [1]",
			"listing [pods]: relist, seen []", "pod a v1", "synced [pods] at [1]",
		}},
		{"gives up the sighting of a running pod for its deletion", func(q *queue) {
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodRunning))
			q.gone(events.Pods, "a", podEnd("a", 2), &pods{})
		}, []string{"pod a gone v2"}},
		{"keeps how a pod ended beside its deletion", func(q *queue) {
			q.seen(events.Pods, "a", podSighting("a", 1, events.PodRunning))
			q.seen(events.Pods, "a", podSighting("a", 2, events.PodFailed))
			q.gone(events.Pods, "a", podEnd("a", 3), &pods{})
		}, []string{"pod a v2 Failed", "pod a gone v3"}},
		{"keeps a Job beside its deletion", func(q *queue) {
			q.seen(events.Jobs, "j", jobSighting("j", 1))
			q.gone(events.Jobs, "j", events.Observation{Job: events.JobRef{Name: "j", UID: "j"}, Facts: &events.JobGone{Version: 2}}, &jobs{})
		}, []string{"job j v1", "job j gone v2"}},
		{"tells a pod that is read again after its deletion behind it", func(q *queue) {
			q.gone(events.Pods, "a", podEnd("a", 3), &pods{})
			q.seen(events.Pods, "a", podSighting("a", 4, events.PodRunning))
		}, []string{"pod a gone v3", "pod a v4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newQueue()
			tt.fill(q)
			if n := q.len(); n != len(tt.want) {
				t.Errorf("%d wait, want %d", n, len(tt.want))
			}
			expect(t, drain(q), tt.want...)
			if len(q.latest) != 0 || q.len() != 0 {
				t.Errorf("left over: %d sightings, %d waiting", len(q.latest), q.len())
			}
		})
	}
}

// TestQueueNeverGoesBack takes observations at random between random changes and deletions. The versions of an object
// only grow, the last change of each object arrives, and the room is given back.
func TestQueueNeverGoesBack(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	q := newQueue()
	last, want := map[string]uint64{}, map[string]uint64{}
	check := func(o events.Observation) {
		var uid string
		var version uint64
		switch f := o.Facts.(type) {
		case *events.PodSeen:
			uid, version = string(f.UID), f.Version
		case *events.PodGone:
			uid, version = string(f.UID), f.Version
		case *events.ListingStarted:
			return
		}
		if version <= last[uid] {
			t.Errorf("seed %d: %s at version %d after %d", seed, uid, version, last[uid])
		}
		last[uid] = version
	}
	for version := uint64(1); version < 20_000; version++ {
		name := fmt.Sprintf("p%d", r.IntN(100))
		switch r.IntN(40) {
		case 0:
			q.mark(events.Observation{Facts: &events.ListingStarted{Resources: []events.Resource{events.Pods}}})
		case 1, 2, 3:
			q.gone(events.Pods, types.UID(name), podEnd(name, version), &pods{})
			want[name] = version
		default:
			q.seen(events.Pods, types.UID(name), podSighting(name, version, events.PodPhase(r.IntN(5))))
			want[name] = version
		}
		for range r.IntN(3) {
			if o, ok := q.take(); ok {
				check(o)
			}
		}
	}
	for o, ok := q.take(); ok; o, ok = q.take() {
		check(o)
	}
	for name, version := range want {
		if last[name] != version {
			t.Errorf("seed %d: the last of %s was %d, want %d", seed, name, last[name], version)
		}
	}
	if len(q.items) != 0 || len(q.latest) != 0 {
		t.Errorf("seed %d: %d items and %d sightings are kept of an empty queue", seed, len(q.items), len(q.latest))
	}
}

package subscribe

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// TestWhatFellOutOfAHole: places that held only messages of other clients lack no record. A record that the stream has
// is not missing.
func TestWhatFellOutOfAHole(t *testing.T) {
	log, other := events.Identity{LogID: "a", Epoch: 1}, events.Identity{LogID: "b", Epoch: 1}
	at := func(of events.Identity, sequence events.Sequence) *nats.Head {
		return &nats.Head{ID: nats.ID{Log: of, Sequence: sequence}}
	}
	for _, row := range []struct {
		sentence string
		oldest   *nats.Head
		want     Gap
	}{
		{"all of it was purged", &nats.Head{}, Gap{Log: log, From: 5, To: 9}},
		{"some of it is there", at(log, 8), Gap{Log: log, From: 5, To: 7}},
		{"the first record of it is there: others' messages stood before it", at(log, 5), Gap{}},
		{"a later one is the oldest", at(log, 20), Gap{Log: log, From: 5, To: 9}},
		{"another log has begun", at(other, 2), Gap{Log: log, From: 5, To: 9}},
	} {
		s := &subscriber{}
		s.fell(hole{place: 3, log: log, from: 5, to: 9}, row.oldest)
		if want := (gaps)(nil).with(row.want); !slices.Equal(s.lost, want) {
			t.Errorf("%s: %+v, want %+v", row.sentence, s.lost, row.want)
		}
	}
}

// TestGapsAreOne: gaps of one log become one, from the beginning of the first to the end of the last; with gaps of
// several streams it covers all streams. An event has the gap of its own log, and gaps of other logs come with their
// next events.
func TestGapsAreOne(t *testing.T) {
	log, other := events.Identity{LogID: "a", Epoch: 1}, events.Identity{LogID: "b", Epoch: 1}
	job := events.JobStream("j")
	a, b := Gap{Log: log, From: 5, To: 7}, Gap{Log: log, Stream: job, From: 6, To: 9}
	for i, row := range [][3]Gap{
		{{}, a, a}, {a, {}, a}, {a, b, {Log: log, From: 5, To: 9}}, {b, b, b}, {b, a, {Log: log, From: 5, To: 9}},
	} {
		if got, _ := (gaps)(nil).with(row[0]).with(row[1]).next(log); got != row[2] {
			t.Errorf("row %d: %+v, want %+v", i+1, got, row[2])
		}
	}
	c := Gap{Log: other, From: 1, To: 2}
	first, rest := (gaps)(nil).with(a).with(c).next(other)
	second, rest := rest.next(other)
	if first != c || second != a || len(rest) > 0 {
		t.Errorf("told: %+v, %+v, left: %+v; want that of its own log, then the other", first, second, rest)
	}
}

// TestWhatIsPassedOverIsInDoubt, also before the first message of a stream that was made anew and was empty then.
func TestWhatIsPassedOverIsInDoubt(t *testing.T) {
	log := events.Identity{LogID: "a", Epoch: 1}
	for _, through := range []uint64{0, 3} {
		s := &subscriber{order: NewOrder(nats.Filter{Namespace: "n"}), place: through}
		s.floor.raise(nats.ID{Log: log, Sequence: 5})
		s.passOver(&nats.Head{ID: nats.ID{Log: log, Sequence: 9}}, 7)
		if want := []hole{{place: through + 1, log: log, from: 5, to: 8}}; !slices.Equal(s.holes, want) {
			t.Errorf("after place %d: %+v, want %+v", through, s.holes, want)
		}
	}
}

package subscribe_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/subscribe"
)

// head returns the headers of record seq of a stream, after previous. Order looks at nothing else.
func head(life events.Identity, seq, previous events.Sequence, stream string) *nats.Head {
	return &nats.Head{
		ID: nats.ID{Log: life, Sequence: seq}, Previous: previous, Floor: 1,
		Stream: events.Stream{Kind: events.StreamJob, ID: stream}, Subject: nats.Subject{Event: "TimerFired"},
	}
}

func TestOrder(t *testing.T) {
	second := events.Identity{LogID: life.LogID, Epoch: 2}
	other := events.Identity{LogID: "another", Epoch: 1}
	job := nats.Filter{Namespace: "default", Kind: nats.KindJob, Name: "demo"}
	begins := head(second, 3, 0, "a")
	begins.Subject.Event = events.KindEpochChanged.String()
	for _, row := range []struct {
		sentence string
		filters  []nats.Filter
		expect   events.Sequence
		heads    []*nats.Head
		want     string
	}{
		{"all of a cluster is dense", nil, 0, []*nats.Head{head(life, 5, 0, "a"), head(life, 6, 0, "b"), head(life, 9, 5, "a")}, ". . gap(7-8)"},
		{"what is expected may be missing at the beginning", nil, 3, []*nats.Head{head(life, 5, 0, "a")}, "gap(3-4)"},
		{"an ID that came before is a duplicate", nil, 0,
			[]*nats.Head{head(life, 5, 0, "a"), head(life, 6, 5, "a"), head(life, 5, 0, "a"), head(life, 6, 5, "a"), head(life, 7, 6, "a")}, ". . dup dup ."},
		{"what was missing and comes late is no duplicate, the second time it is", nil, 0,
			[]*nats.Head{head(life, 5, 0, "a"), head(life, 9, 5, "a"), head(life, 7, 0, "b"), head(life, 7, 0, "b"), head(life, 6, 0, "b"), head(life, 10, 9, "a")},
			". gap(6-8) late dup late ."},
		{"what is older than the beginning is late", nil, 0, []*nats.Head{head(life, 5, 0, "a"), head(life, 4, 0, "b")}, ". late"},
		{"a stream names the record before", []nats.Filter{job}, 1,
			[]*nats.Head{head(life, 2, 0, "a"), head(life, 40, 2, "a"), head(life, 90, 50, "a")}, ". . gap(41-50 of job/a)"},
		{"a stream that began before the subscription misses nothing", []nats.Filter{job}, 30,
			[]*nats.Head{head(life, 40, 20, "a"), head(life, 41, 40, "a")}, ". ."},
		{"a stream whose first record after the beginning is missing", []nats.Filter{job}, 30, []*nats.Head{head(life, 40, 33, "a")}, "gap(30-33 of job/a)"},
		{"kinds of events prove nothing", []nats.Filter{{Event: "Decided"}}, 1, []*nats.Head{head(life, 2, 0, "a"), head(life, 90, 50, "a"), head(life, 2, 0, "a")}, ". . dup"},
		{"a restored log is another life: its sequences come again and are no duplicates", nil, 1,
			[]*nats.Head{head(life, 1, 0, "a"), head(life, 2, 0, "b"), head(life, 3, 1, "a"), head(life, 4, 3, "a"), begins, head(second, 4, 1, "a"), head(life, 4, 3, "a"), head(second, 4, 1, "a")},
			". . . . after(1.4) . dup dup"},
		{"an epoch that does not begin with its first record", nil, 1, []*nats.Head{head(life, 1, 0, "a"), head(life, 2, 1, "a"), head(second, 2, 1, "a")},
			". . gap(0-1)after(1.2)"},
		{"a stream goes on in the next epoch from what is true in both", []nats.Filter{job}, 1,
			[]*nats.Head{head(life, 1, 0, "a"), head(life, 3, 1, "a"), head(life, 5, 3, "a"), head(second, 5, 3, "a"), head(second, 9, 7, "a")},
			". . . after(1.5) gap(6-7 of job/a)"},
		{"another log begins with its first record", nil, 1, []*nats.Head{head(life, 1, 0, "a"), head(other, 1, 0, "a"), head(other, 3, 0, "a")}, ". after(1.1) gap(2-2)"},
		{"another log whose first record is missing", nil, 1, []*nats.Head{head(life, 1, 0, "a"), head(other, 2, 0, "a")}, ". gap(1-1)after(1.1)"},
		{"a life before the one that was expected is late", nil, 1, []*nats.Head{head(second, 1, 0, "a"), head(life, 7, 0, "a")}, ". late"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			o := subscribe.NewOrder(row.filters...)
			if row.expect > 0 {
				o.Expect(nats.ID{Log: row.heads[0].ID.Log, Sequence: row.expect})
			}
			got := ""
			for i, h := range row.heads {
				if i > 0 {
					got += " "
				}
				got += text(o.Check(h))
			}
			if got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

func text(f subscribe.Finding) (s string) {
	if f.Gap != (subscribe.Gap{}) {
		s = fmt.Sprintf("gap(%d-%d", f.Gap.From, f.Gap.To)
		if f.Gap.Stream != (events.Stream{}) {
			s += " of " + f.Gap.Stream.String()
		}
		s += ")"
	}
	if f.Before != (nats.ID{}) {
		s += fmt.Sprintf("after(%d.%d)", f.Before.Log.Epoch, f.Before.Sequence)
	}
	switch {
	case f.Duplicate:
		s += "dup"
	case f.Late:
		s += "late"
	case s == "":
		s = "."
	}
	return s
}

// TestOrderFindsWhateverIsMissing loses records of many streams at random. Every loss shows at the next record of the
// cluster or of its stream, and nothing else is reported. This holds even if Order cannot remember all streams.
func TestOrderFindsWhateverIsMissing(t *testing.T) {
	const records, streams = 250_000, 90_000
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	dense, chained := subscribe.NewOrder(), subscribe.NewOrder(nats.Filter{Kind: nats.KindJob})
	for _, o := range []*subscribe.Order{dense, chained} {
		o.Expect(nats.ID{Log: life, Sequence: 1})
	}
	previous := make([]events.Sequence, streams)
	lost := map[int]events.Sequence{} // the newest that was lost, by stream
	var gone events.Sequence          // the newest that was lost, of all
	found, missed := 0, 0
	for seq := events.Sequence(1); seq <= records; seq++ {
		i := rng.IntN(streams / (1 + rng.IntN(50)))
		h := head(life, seq, previous[i], fmt.Sprint(i))
		previous[i] = seq
		if rng.IntN(100) == 0 {
			lost[i], gone = seq, seq
			continue
		}
		if f := dense.Check(h); (f.Gap != subscribe.Gap{}) != (gone > 0 && gone == seq-1) || f.Gap != (subscribe.Gap{}) && f.Gap.To != gone {
			t.Fatalf("seed %d: record %d of all: %+v, and %d was lost", seed, seq, f, gone)
		}
		f := chained.Check(h)
		switch want := lost[i]; {
		case f.Gap == (subscribe.Gap{}) && want > 0:
			missed++ // its stream had been forgotten
		case f.Gap != (subscribe.Gap{}) && (want == 0 || f.Gap.To != h.Previous):
			t.Fatalf("seed %d: record %d of stream %d: %s, and %d was lost", seed, seq, i, f.Gap, want)
		case want > 0:
			found++
		}
		delete(lost, i)
	}
	if found == 0 || missed > found/10 {
		t.Errorf("seed %d: %d losses were found and %d missed", seed, found, missed)
	}
}

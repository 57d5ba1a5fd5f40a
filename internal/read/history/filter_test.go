package history_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// tornAt is a log of whose records some cannot be read, in either direction: those from at to before next.
type tornAt struct {
	store.Reader
	at, next events.Sequence
}

func (h tornAt) read(all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if err == nil && h.at <= r.Sequence && r.Sequence < h.next {
				yield(events.Record{}, &store.CorruptError{Path: "a.db", At: h.at, Next: h.next})
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (h tornAt) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return h.read(h.Reader.Read(ctx, from))
}

func (h tornAt) ReadStream(
	ctx context.Context, s events.Stream, from events.Sequence, d store.Direction,
) iter.Seq2[events.Record, error] {
	return h.read(h.Reader.ReadStream(ctx, s, from, d))
}

// filtered are the records that a query selects, by a look at each. Names are learned from the start of the log.
func filtered(all []events.Record, q *history.Query) (out []events.Sequence) {
	spaces := map[events.Stream]string{}
	for i := range all {
		r := &all[i]
		space := r.Evidence.Namespace
		if space != "" && spaces[r.Stream] == "" {
			spaces[r.Stream] = space
		} else if space == "" {
			space = spaces[r.Stream]
		}
		switch {
		case r.Sequence < q.From, q.Through != 0 && r.Sequence > q.Through, q.Stream != nil && *q.Stream != r.Stream:
		case r.Time < q.Since, q.Until != 0 && r.Time > q.Until, len(q.Kinds) > 0 && !slices.Contains(q.Kinds, r.Kind):
		case q.Namespace != "" && space != q.Namespace:
		case q.Limit > 0 && len(out) == q.Limit:
		default:
			out = append(out, r.Sequence)
		}
	}
	return out
}

func sequences(all iter.Seq2[events.Record, error]) (out []events.Sequence, failed error) {
	for r, err := range all {
		if err != nil {
			return out, err
		}
		out = append(out, r.Sequence)
	}
	return out, nil
}

// TestAQuerySelectsWhatAFilterGives: drawn queries are compared with a look at each record, from the front and from
// the end. What is drawn is often the edge itself: a record's own place, or its own time.
func TestAQuerySelectsWhatAFilterGives(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	all := historytest.Records(t, log)
	src := history.Local{Log: log, Damage: &store.Damage{}}
	draw := rand.New(rand.NewPCG(5, 2))
	some := func() *events.Record { return &all[draw.IntN(len(all))] }
	often := func(of int) bool { return draw.IntN(of) == 0 }
	for range 300 {
		var q history.Query
		if often(2) {
			q.From = some().Sequence
		}
		if often(2) {
			q.Through = some().Sequence
		}
		if often(3) {
			q.Stream = &some().Stream
		}
		if often(3) {
			q.Since = some().Time
		}
		if often(3) {
			q.Until = some().Time
		}
		if often(3) {
			q.Kinds = []events.Kind{some().Kind, some().Kind}
		}
		if often(4) {
			q.Namespace = []string{"default", "nowhere"}[draw.IntN(2)]
		}
		if often(4) {
			q.Limit = 1 + draw.IntN(4)
		}
		want := filtered(all, &q)
		if got, err := sequences(src.Records(t.Context(), q)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v, %v, want %v", q, got, err, want)
		}
		through, n := some().Sequence, 1+draw.IntN(9)
		q.Through, q.Limit = 0, 0
		back := q
		back.Through = through
		want = filtered(all, &back)
		want = want[max(0, len(want)-n):]
		records, err := history.Newest(t.Context(), src, q, n, through)
		var got []events.Sequence
		for i := range records {
			got = append(got, records[i].Sequence)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("the last %d of %+v through %d: %v, %v, want %v", n, q, through, got, err, want)
		}
	}
}

// TestABoundedLookGoesOn: a query that may look at a few records only says where the next one begins. All of them
// together give what one query without the bound gives, from the front and from the end.
func TestABoundedLookGoesOn(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	all := historytest.Records(t, log)
	src := history.Local{Log: log, Damage: &store.Damage{}}
	draw := rand.New(rand.NewPCG(5, 4))
	some := func() *events.Record { return &all[draw.IntN(len(all))] }
	asked, head := 0, all[len(all)-1].Sequence
	for range 100 {
		q := history.Query{Kinds: []events.Kind{some().Kind}, Looks: 1 + draw.IntN(60)}
		if draw.IntN(3) == 0 {
			q.Stream = &some().Stream
		}
		if draw.IntN(3) == 0 {
			q.Since, q.Until = all[len(all)/4].Time, all[len(all)/2].Time
		}
		want := filtered(all, &q)
		var got []events.Sequence
		for q := q; ; asked++ {
			these, err := sequences(src.Records(t.Context(), q))
			got = append(got, these...)
			var more *history.MoreError
			if !errors.As(err, &more) {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if more.At <= q.From {
				t.Fatalf("%+v goes on at %d", q, more.At)
			}
			q.From = more.At
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", q, got, want)
		}
		got = nil
		for through := head; ; asked++ {
			records, err := history.Newest(t.Context(), src, q, len(all), through)
			for i := range slices.Backward(records) {
				got = append(got, records[i].Sequence)
			}
			var more *history.MoreError
			if !errors.As(err, &more) {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if more.At >= through {
				t.Fatalf("%+v through %d goes on at %d", q, through, more.At)
			}
			through = more.At
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Errorf("%+v from the end: %v, want %v", q, got, want)
		}
	}
	if asked < 500 {
		t.Errorf("only %d queries reached their bound", asked)
	}
}

// TestTheNewestOfAStreamBesideDamage are all that can be read of it, and the damage if it may hide others.
func TestTheNewestOfAStreamBesideDamage(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	all := historytest.Records(t, log)
	streams := map[events.Stream][]events.Sequence{}
	for i := range all {
		streams[all[i].Stream] = append(streams[all[i].Stream], all[i].Sequence)
	}
	draw := rand.New(rand.NewPCG(5, 3))
	for range 200 {
		keys := slices.SortedFunc(maps.Keys(streams),
			func(a, b events.Stream) int { return int(streams[a][0]) - int(streams[b][0]) })
		s := keys[draw.IntN(len(keys))]
		own := streams[s]
		k := draw.IntN(len(own))
		at := own[k]
		next := own[min(k+draw.IntN(3), len(own)-1)] + 1
		torn := tornAt{log, at, next}
		n, through := 1+draw.IntN(len(own)+2), own[draw.IntN(len(own))]
		var want []events.Sequence
		met := false
		for _, x := range slices.Backward(own) {
			switch {
			case x > through:
			case len(want) == n:
			case x >= at && x < next:
				met = true
			default:
				want = append(want, x)
			}
		}
		slices.Reverse(want)
		records, err := history.Newest(t.Context(), history.Local{Log: torn, Damage: &store.Damage{}},
			history.Query{Stream: &s}, n, through)
		var got []events.Sequence
		for i := range records {
			got = append(got, records[i].Sequence)
		}
		if !slices.Equal(got, want) || errors.Is(err, store.ErrCorrupt) != met || !met && err != nil {
			t.Errorf("the last %d of %s through %d, damaged from %d to %d: %v, %v, want %v", n, s, through, at, next, got,
				err, want)
		}
	}
}

// TestWhatIsInFlight are commands that were decided and have not ended, as of each record of a log. Each is in flight
// as soon as it is decided.
func TestWhatIsInFlight(t *testing.T) {
	kinds := map[string]int{}
	for _, log := range []store.Reader{historytest.Hard(t, 2), historytest.HardCrons(t, 3)} {
		fold, open := history.NewFold(), map[events.Stream]map[string]bool{}
		for r, err := range log.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			fold.Apply(&r)
			if r.Kind == events.KindStateStored {
				continue
			}
			if open[r.Stream] == nil {
				open[r.Stream] = map[string]bool{}
			}
			var fresh []events.Command
			switch f := r.Facts.(type) {
			case *events.Decision:
				fresh = f.Commands()
				for i, c := range f.Commands() {
					id := events.CommandID{Decided: r.Sequence, Place: uint32(i)}
					open[r.Stream][recordjson.CommandText(id)] = true
					kinds[fmt.Sprintf("%T", c)]++
				}
			case *events.CommandEnded:
				if f.Ending == events.Done || f.Ending == events.Withdrawn { // others are retried
					delete(open[r.Stream], recordjson.CommandText(f.Command))
				}
			}
			if r.Stream.Kind != events.StreamJob || open[r.Stream] == nil {
				continue
			}
			job := history.JobOf(fold, fold.Account(r.Stream), r.Sequence, r.Time)
			got := map[string]bool{}
			for _, c := range job.InFlight {
				if !c.Doubt {
					got[c.Command] = true
				}
				if c.Does == "" || c.Since == 0 {
					t.Errorf("as of %d: %+v", r.Sequence, c)
				}
			}
			for id := range got {
				if !open[r.Stream][id] {
					t.Fatalf("as of %d, %s: %s is in flight, of %v", r.Sequence, r.Stream, id, open[r.Stream])
				}
			}
			for i := range fresh {
				if id := (events.CommandID{Decided: r.Sequence, Place: uint32(i)}); !got[recordjson.CommandText(id)] {
					t.Errorf("as of %d, %s: %T was just decided, and is not in flight", r.Sequence, r.Stream, fresh[i])
				}
			}
		}
	}
	if len(kinds) < 4 {
		t.Errorf("only these were decided: %v", kinds)
	}
}

// TestWhatIsKnownOfAnObjectThatWasOver: records that name a Job which has no state say whose they are.
func TestWhatIsKnownOfAnObjectThatWasOver(t *testing.T) {
	gone := told(ofTwo, events.KindJobDeleted, &events.JobGone{}, named("two"))
	owned := told(ofTwo, events.KindPodDeleted, &events.PodGone{UID: "a"},
		events.Evidence{Namespace: "batch", Name: "two-a", Owner: "two"})
	other := told(ofTwo, events.KindPodDeleted, &events.PodGone{UID: "b"},
		events.Evidence{Namespace: "batch", Name: "two-b", Owner: "other"})
	nameless := told(ofTwo, events.KindPodDeleted, &events.PodGone{UID: "a"},
		events.Evidence{Namespace: "batch", Name: "two-a"})
	for _, row := range []struct {
		records []events.Record
		want    string
	}{
		{[]events.Record{gone}, "batch/two gone"}, {[]events.Record{owned}, "batch/two"}, {[]events.Record{nameless}, "/"},
		{[]events.Record{owned, other}, "batch/two"}, {[]events.Record{owned, gone}, "batch/two gone"},
		{[]events.Record{gone, owned}, "batch/two gone"}, {[]events.Record{nameless, other}, "batch/other"},
	} {
		_, _, sum := foldOf(row.records, false)
		got := fmt.Sprint(sum.Namespace, "/", sum.Name, map[bool]string{true: " gone"}[sum.Gone])
		if got != row.want || sum.Records != uint64(len(row.records)) || sum.State == history.StateRunning {
			t.Errorf("%s: %+v", row.want, sum)
		}
		if _, _, brief := foldOf(row.records, true); brief.Name != sum.Name || brief.Namespace != sum.Namespace ||
			brief.Gone != sum.Gone {
			t.Errorf("%s: in a brief fold %+v", row.want, brief)
		}
	}
}

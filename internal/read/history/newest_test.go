package history_test

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
)

// TestNewestIsTheEndOfAll: what is read back from the end is the end of what a look at every record finds.
func TestNewestIsTheEndOfAll(t *testing.T) {
	log := historytest.Hard(t, 2)
	src := history.Local{Log: log}
	head := log.Head()
	stream, err := log.Find("default", "job-1")
	if err != nil || len(stream) == 0 {
		t.Fatal(stream, err)
	}
	for what, q := range map[string]history.Query{
		"all": {}, "from a record": {From: head.Sequence - 7}, "of a kind": {Kinds: []events.Kind{events.KindJobAdded}},
		"of a namespace": {Namespace: "default"}, "of none": {Namespace: "nowhere"}, "of a Job": {Stream: &stream[0]},
		"of a Job and a kind": {Stream: &stream[0], Kinds: []events.Kind{events.KindPodAdded}},
		"of a Job from on":    {Stream: &stream[0], From: head.Sequence / 2},
		"until a time":        {Until: head.Time - 20e9}, "since a time": {Since: head.Time - 20e9},
	} {
		for _, through := range []events.Sequence{head.Sequence, head.Sequence - 100} {
			var all []events.Sequence
			for r, err := range src.Records(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
				if r.Sequence <= through {
					all = append(all, r.Sequence)
				}
			}
			for _, n := range []int{1, 3, 500, 5000} {
				records, err := history.Newest(t.Context(), src, q, n, through)
				var got []events.Sequence
				for _, r := range records {
					got = append(got, r.Sequence)
				}
				if want := all[max(0, len(all)-n):]; err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, the last %d through %d: %d records, want %d, error %v", what, n, through, len(got), len(want), err)
				}
			}
		}
	}
	f := &historytest.Failing{Reader: log}
	if _, err := history.Newest(t.Context(), history.Local{Log: f}, history.Query{}, 1, head.Sequence); err != nil {
		t.Fatal(err)
	}
	for where, reads := range f.Reads {
		if reads[0].Records > 256 {
			t.Errorf("%d records are read from %s for the last one", reads[0].Records, where)
		}
	}
	if head.Sequence < 300 {
		t.Errorf("the log has only %d records: one look takes them in", head.Sequence)
	}
}

// TestTheNewestOfAKindThatIsSeldom: some of what is wanted is at the end of the log, and the rest is far behind it, at
// the ends of windows and between. Each record is there once.
func TestTheNewestOfAKindThatIsSeldom(t *testing.T) {
	log := historytest.Hard(t, 2)
	src := history.Local{Log: log}
	head := log.Head().Sequence
	kinds := map[events.Kind][]events.Sequence{}
	for r, err := range log.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		kinds[r.Kind] = append(kinds[r.Kind], r.Sequence)
	}
	apart := 0
	for kind, all := range kinds {
		for through := head; through > 300; through -= 1 + head/23 {
			want := all[:len(all)-len(slices.DeleteFunc(slices.Clone(all), func(n events.Sequence) bool { return n <= through }))]
			for n := 2; n < 40; n += 5 {
				records, err := history.Newest(t.Context(), src, history.Query{Kinds: []events.Kind{kind}}, n, through)
				var got []events.Sequence
				for _, r := range records {
					got = append(got, r.Sequence)
				}
				want := want[max(0, len(want)-n):]
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("the last %d %s through %d: %v, want %v: %v", n, kind, through, got, want, err)
				}
				if k := len(want); k > 1 && want[0]+256 <= through && want[k-1]+256 > through {
					apart++
				}
			}
		}
	}
	if apart < 10 {
		t.Errorf("only %d times the last ones were in several windows", apart)
	}
}

// TestTheNewestOfAPrunedLog: some of what is wanted is at the end of the log, and the rest at its beginning, before which
// all is pruned. No more is given than was asked for, and all that is kept if that is less.
func TestTheNewestOfAPrunedLog(t *testing.T) {
	log := historytest.HardCrons(t, 3)
	records, apart := historytest.Records(t, log), 0
	head := log.Head().Sequence
	for _, first := range records {
		if first.Kind != events.KindStateStored || first.Stream != events.Controller {
			continue
		}
		src := history.Local{Log: historytest.Pruned{Reader: log, First: first.Sequence}}
		kinds := map[events.Kind][]events.Sequence{}
		for _, r := range records {
			if r.Sequence >= first.Sequence {
				kinds[r.Kind] = append(kinds[r.Kind], r.Sequence)
			}
		}
		for kind, all := range kinds {
			for _, n := range []int{2, 9, 40} {
				got, err := history.Newest(t.Context(), src, history.Query{Kinds: []events.Kind{kind}}, n, head)
				want := all[max(0, len(all)-n):]
				if err != nil || len(got) != len(want) || got[0].Sequence != want[0] {
					t.Errorf("from %d on, the last %d %s: %d records, want %d: %v", first.Sequence, n, kind, len(got), len(want), err)
				}
				if k := len(want); k > 1 && want[0]+256 <= head && want[k-1]+256 > head {
					apart++
				}
			}
		}
	}
	if apart < 10 {
		t.Errorf("only %d times the last ones were in several windows", apart)
	}
}

package permit_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/permit"
)

// counting is a source that counts the records which it was asked for, as a source far away would send them.
type counting struct {
	history.Source
	sent, asked int
}

func (c *counting) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	c.asked++
	var all []events.Record
	var failed error
	for r, err := range c.Source.Records(ctx, q) {
		if failed = err; err != nil {
			break
		}
		all = append(all, r)
	}
	c.sent += len(all)
	return func(yield func(events.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
		if failed != nil {
			yield(events.Record{}, failed)
		}
	}
}

// TestRecordsAreAskedForWithinBounds: who asks for a few records is not sent the rest of the log, however many of them
// may be read; and a record that may not be read is looked for once.
func TestRecordsAreAskedForWithinBounds(t *testing.T) {
	r := openRecorded(t, "../../../examples/incidents/delegated/log")
	space := r.spaces[len(r.spaces)-1]
	var may []events.Sequence
	for rec, err := range permit.Namespace(r.local, permit.Right{Namespace: space}).Records(t.Context(), history.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		may = append(may, rec.Sequence)
	}
	head := r.log.Head().Sequence
	if len(may) < 20 || len(may) > int(head)/2 {
		t.Fatalf("%d of %d records may be read: that is no test", len(may), head)
	}
	for _, limit := range []int{1, 2, 7, 16} {
		for i := 0; i+limit < len(may); i += 5 {
			all := &counting{Source: r.local}
			src := permit.Namespace(all, permit.Right{Namespace: space})
			q := history.Query{From: may[i], Limit: limit}
			n := 0
			for rec, err := range src.Records(t.Context(), q) {
				if err != nil || rec.Sequence != may[i+n] {
					t.Fatalf("%d from %d: record %d is %d, %v, want %d", limit, may[i], n, rec.Sequence, err, may[i+n])
				}
				n++
			}
			spanned := int(may[i+limit-1]-may[i]) + 1
			if n != limit || all.sent > 6*spanned+all.asked*16 { // names of streams are looked up within 16 records
				t.Errorf("%d from %d: %d came, and %d were sent for a span of %d", limit, may[i], n, all.sent, spanned)
			}
		}
	}
	hidden := 0
	for at := events.Sequence(1); at <= head; at++ {
		if len(may) > 0 && may[0] == at {
			may = may[1:]
			continue
		}
		hidden++
		all := &counting{Source: r.local}
		_, err := history.Record(t.Context(), permit.Namespace(all, permit.Right{Namespace: space}), at)
		if !errors.Is(err, history.ErrNoRecord) || all.sent > 1+2*16 {
			t.Fatalf("record %d may not be read: %v after %d records were sent", at, err, all.sent)
		}
	}
	if hidden == 0 {
		t.Error("all records may be read")
	}
}

// TestABoundedLookOfAPartGoesOn: the bound counts the records of others, too. So a query of a small part of a large log
// ends, and says where the next one begins.
func TestABoundedLookOfAPartGoesOn(t *testing.T) {
	r := openRecorded(t, "../../../examples/incidents/delegated/log")
	src := permit.Namespace(r.local, permit.Right{Namespace: r.spaces[len(r.spaces)-1]})
	var want, got []events.Sequence
	for rec, err := range src.Records(t.Context(), history.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, rec.Sequence)
	}
	asked := 0
	for q, more := (history.Query{Limit: 5000, Looks: 50}), true; more; asked++ {
		more = false
		all := &counting{Source: r.local}
		bounded := permit.Namespace(all, permit.Right{Namespace: r.spaces[len(r.spaces)-1]})
		for rec, err := range bounded.Records(t.Context(), q) {
			var reached *history.MoreError
			if errors.As(err, &reached) {
				more, q.From = true, reached.At
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rec.Sequence)
		}
		if all.sent > 60+all.asked*16 {
			t.Errorf("from %d, %d records were sent", q.From, all.sent)
		}
		for n := 1; n < 30; n += 7 { // a page of the caller's that is shorter than the bound
			small := q
			small.Limit = n
			taken := 0
			for _, err := range bounded.Records(t.Context(), small) {
				if err == nil {
					taken++
				}
			}
			if taken > n {
				t.Errorf("%d records of at most %d", taken, n)
			}
		}
	}
	if !slices.Equal(got, want) || asked < 5 {
		t.Errorf("%d queries give %v, want %v", asked, got, want)
	}
}

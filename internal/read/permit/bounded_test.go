package permit_test

import (
	"context"
	"errors"
	"iter"
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

package explain_test

import (
	"context"
	"iter"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// counting counts what is read: how often each stream from its beginning, how often each record alone, and how many
// lists of Jobs.
type counting struct {
	history.Source
	streams map[events.Stream]int
	alone   map[events.Sequence]int
	lists   int
}

func count(src history.Source) *counting {
	return &counting{src, map[events.Stream]int{}, map[events.Sequence]int{}, 0}
}

func (c *counting) Jobs(ctx context.Context, q history.JobsQuery) (history.JobsPage, error) {
	c.lists++
	return c.Source.Jobs(ctx, q)
}

func (c *counting) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	if from == 0 && dir == store.Forward {
		c.streams[s]++
	}
	return c.Source.ReadStream(ctx, s, from, dir)
}

func (c *counting) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	if q.Limit == 1 && q.Stream == nil {
		c.alone[q.From]++
	}
	return c.Source.Records(ctx, q)
}

// TestALongListReadsEachJobOnce: what is read for a list of trouble with all near misses, and for the lines of all
// Jobs: the records of each Job once, those of the controller once, and a spec that thousands of Jobs share once.
func TestALongListReadsEachJobOnce(t *testing.T) {
	for _, dir := range logs(t) {
		for name, ask := range map[string]func(history.Source) (jobs int, err error){
			"failures": func(src history.Source) (int, error) {
				f, err := failures.Find(t.Context(), src, failures.Query{Survived: true})
				return f.Looked, err
			},
			"lines": func(src history.Source) (int, error) {
				lines := verdicts.LinesOf(src)
				page, err := src.Jobs(t.Context(), history.JobsQuery{Limit: 1000})
				for i := range page.Items {
					if _, err := lines.Of(t.Context(), &page.Items[i], history.Point{}); err != nil {
						return 0, err
					}
				}
				return len(page.Items), err
			},
		} {
			t.Run(name, func(t *testing.T) {
				src := count(openRecorded(t, dir))
				jobs, err := ask(src)
				if err != nil || jobs == 0 {
					t.Fatalf("%d Jobs: %v", jobs, err)
				}
				for s, n := range src.streams {
					if (s.Kind == events.StreamJob || s == events.Controller) && n > 1 {
						t.Errorf("%s: the records of %s are read %d times", dir, s, n)
					}
				}
				for at, n := range src.alone {
					if n > 1 {
						t.Errorf("%s: record %d is looked up %d times", dir, at, n)
					}
				}
			})
		}
	}
}

// TestAJobThatFailedIsComparedAndOthersAreNot: of other Jobs nothing is read for a Job that completed, as its answer
// says nothing of them. For one that failed each is read once.
func TestAJobThatFailedIsComparedAndOthersAreNot(t *testing.T) {
	compared, alone := 0, 0
	for _, dir := range logs(t) {
		recorded := openRecorded(t, dir)
		page, err := recorded.Jobs(t.Context(), history.JobsQuery{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Items {
			src := count(recorded)
			c, err := job.Read(t.Context(), src, events.JobStream(types.UID(page.Items[i].UID)), history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			clear(src.streams)
			clear(src.alone)
			src.lists = 0
			if err := c.Compare(t.Context()); err != nil {
				t.Fatal(err)
			}
			for s, n := range src.streams {
				if n > 2 { // the last one that succeeded is compared more closely, and may have run at the same time
					t.Errorf("%s: the records of %s are read %d times", dir, s, n)
				}
			}
			switch c.Job.State {
			case history.StateFailed:
				compared++
				if src.lists != 2 {
					t.Errorf("%s: %s failed, and %d lists of Jobs are read for it", dir, c.Job.Name, src.lists)
				}
				for at, n := range src.alone {
					if n > 1 {
						t.Errorf("%s: record %d is looked up %d times", dir, at, n)
					}
				}
			case history.StateComplete:
				alone++
				if len(src.streams)+len(src.alone)+src.lists > 0 {
					t.Errorf("%s: %s completed, and is compared: %v, %v, %d lists", dir, c.Job.Name, src.streams, src.alone, src.lists)
				}
			}
		}
	}
	if compared == 0 || alone == 0 {
		t.Errorf("%d Jobs failed, and %d completed", compared, alone)
	}
}

// endless is a log of which each record exists.
type endless struct{ history.Source }

func (endless) Records(_ context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		yield(events.Record{Header: events.Header{Sequence: q.From}}, nil)
	}
}

// TestTheCacheOfRecordsIsBounded: 1,000 records that are looked up twice are read once. Of 3,000 the first are read
// again, as the cache was emptied meanwhile.
func TestTheCacheOfRecordsIsBounded(t *testing.T) {
	for n, want := range map[events.Sequence]int{1000: 1, 3000: 2} {
		src := count(endless{})
		m := &explain.Remembering{Source: src}
		for range 2 {
			for at := range n {
				if r, err := history.Record(t.Context(), m, at+1); err != nil || r.Sequence != at+1 {
					t.Fatalf("record %d is %d, %v", at+1, r.Sequence, err)
				}
			}
		}
		if src.alone[1] != want {
			t.Errorf("of %d records the first is read %d times, want %d", n, src.alone[1], want)
		}
	}
}

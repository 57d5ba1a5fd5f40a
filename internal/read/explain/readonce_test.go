package explain_test

import (
	"context"
	"iter"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// counting counts what is read: how often each stream from its beginning, and how often each record alone.
type counting struct {
	history.Source
	streams map[events.Stream]int
	alone   map[events.Sequence]int
}

func count(src history.Source) *counting {
	return &counting{src, map[events.Stream]int{}, map[events.Sequence]int{}}
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

// TestALongListReadsEachJobOnce: what is read for a list of trouble with all near misses, and for the lines of all Jobs: the records of each
// Job once, those of the controller once, and a spec that thousands of Jobs share once.
func TestALongListReadsEachJobOnce(t *testing.T) {
	for _, dir := range logs(t) {
		for name, ask := range map[string]func(history.Source) (jobs int, err error){
			"failures": func(src history.Source) (int, error) {
				f, err := explain.FindFailures(t.Context(), src, explain.FailuresQuery{Survived: true})
				return f.Looked, err
			},
			"lines": func(src history.Source) (int, error) {
				lines := explain.LinesOf(src)
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

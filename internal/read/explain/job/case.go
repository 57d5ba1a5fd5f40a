package job

import (
	"context"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/compare"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/history"
)

// Case is what the records say about one Job, with methods that explain it.
type Case struct {
	*jobcase.Case
	Lives []explain.Life // the Jobs of this name, the oldest first; empty if there is only one, or if they were not read

	beside compare.Jobs // other Jobs to compare with; empty before Compare
	// refusedItself is set if the API server refused the Job's create command before it accepted it; tick sets it.
	refusedItself bool
}

// Read reads the records of a Job. Its errors are those of ending.Read.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	c, err := ending.Read(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	return &Case{Case: c, beside: compare.Jobs{Case: c}}, err
}

// Compare reads other Jobs to compare with. Answers that are made later include the comparison.
func (c *Case) Compare(ctx context.Context) error { return c.beside.Read(ctx) }

// Attempts is attempts.Rows for this Job.
func (c *Case) Attempts(failed bool, from, most int) (rows []attempts.Attempt, all int) {
	return attempts.Rows(c.Case, failed, from, most)
}

// Sum is attempts.Sum for this Job.
func (c *Case) Sum() string { return attempts.Sum(c.Case) }

// Timeline is attempts.TimelineOf for this Job.
func (c *Case) Timeline(most int) attempts.Timeline { return attempts.TimelineOf(c.Case, most) }

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

// Case explains one Job.
type Case struct {
	*jobcase.Case
	Lives []explain.Life // the Jobs of this name, the oldest first; empty for a single Job, or if they were not looked up

	beside compare.Jobs // the Jobs that it is compared with; none before Compare
	// The API server refused the Job before it created it for its due time; set by tick.
	refusedItself bool
}

// Read reads the case of a Job, as ending.Read does.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	c, err := ending.Read(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	return &Case{Case: c, beside: compare.Jobs{Case: c}}, err
}

// Compare reads other Jobs to compare with. Later answers of the case include the result.
func (c *Case) Compare(ctx context.Context) error { return c.beside.Read(ctx) }

// Attempts is attempts.Rows of the Job.
func (c *Case) Attempts(failed bool, from, most int) (rows []attempts.Attempt, all int) {
	return attempts.Rows(c.Case, failed, from, most)
}

// Sum is attempts.Sum of the Job.
func (c *Case) Sum() string { return attempts.Sum(c.Case) }

// Timeline is attempts.TimelineOf the Job.
func (c *Case) Timeline(most int) attempts.Timeline { return attempts.TimelineOf(c.Case, most) }

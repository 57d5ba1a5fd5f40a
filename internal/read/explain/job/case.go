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
	// Lives has all Jobs that ever had this name, the oldest first. It is empty if there is only one, or if they were
	// not read.
	Lives []explain.Life

	beside compare.Jobs // other Jobs to compare with; empty until Compare is called
	// refusedItself is set by the method tick if the API server refused to create the Job at first and accepted it
	// later.
	refusedItself bool
}

// Read reads the records of the Job with stream s, up to point at. If the log is damaged, it returns the error, and if
// possible the case up to the damage.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	c, err := ending.Read(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	return &Case{Case: c, beside: compare.Jobs{Case: c}}, err
}

// Compare reads other Jobs, with which all later answers compare this Job.
func (c *Case) Compare(ctx context.Context) error { return c.beside.Read(ctx) }

// Attempts returns one row for each try (pod) of the Job. The parameters and results are those of attempts.Rows.
func (c *Case) Attempts(failed bool, from, most int) (rows []attempts.Attempt, all int) {
	return attempts.Rows(c.Case, failed, from, most)
}

// Sum returns a line that counts the tries (pods) of the Job by how they ended.
func (c *Case) Sum() string { return attempts.Sum(c.Case) }

// Timeline returns the timeline of the Job's pods, with no more rows than `most` (0 for all).
func (c *Case) Timeline(most int) attempts.Timeline { return attempts.TimelineOf(c.Case, most) }

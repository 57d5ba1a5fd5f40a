package explain

import (
	"context"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// JobCase is the case of a Job that is explained.
type JobCase struct {
	*Case
	Lives []Life // the Jobs of this name, the oldest first; empty for a single Job, or if they were not looked up

	beside compared // the Jobs that it is compared with; none before Compare
	// The API server refused the Job before it created it for its due time; set by tick.
	refusedItself bool
}

// ReadJob reads the case of a Job, as ending.Read does.
func ReadJob(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*JobCase, error) {
	c, err := Read(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	return &JobCase{Case: c, beside: compared{Case: c}}, err
}

// Compare reads other Jobs to compare with. Later answers of the case include the result.
func (c *JobCase) Compare(ctx context.Context) error { return c.beside.readOthers(ctx) }

// Attempts is attempts.Of of the Job.
func (c *JobCase) Attempts(failed bool, from, most int) (rows []Attempt, all int) {
	return c.Case.Attempts(failed, from, most)
}

// Sum is attempts.Sum of the Job.
func (c *JobCase) Sum() string { return c.Case.Sum() }

// Timeline is attempts.TimelineOf the Job.
func (c *JobCase) Timeline(most int) Timeline { return c.Case.Timeline(most) }

// CronAnswer is a CronJob.
type CronAnswer struct{ *CronCase }

// ReadCronJob reads.
func ReadCronJob(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*CronAnswer, error) {
	c, err := ReadCron(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	return &CronAnswer{c}, err
}

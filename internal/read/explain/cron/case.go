package cron

import (
	"context"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/history"
)

// Case is what the records say about one CronJob, with methods that explain it.
type Case struct{ *croncase.Case }

// Read reads the records of the CronJob with stream s, up to a point. If the log is damaged, it returns the error, and
// if possible the case up to the damage.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	c, err := croncase.Read(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	return &Case{c}, err
}

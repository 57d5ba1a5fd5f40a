package cron

import (
	"context"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/history"
)

// Case explains one CronJob.
type Case struct{ *croncase.Case }

// Read reads the case of a CronJob. It returns the errors of history.CronJobAt, as croncase.Read does.
func Read(ctx context.Context, src history.Source, s events.Stream, at history.Point) (*Case, error) {
	c, err := croncase.Read(ctx, src, s, at)
	if c == nil {
		return nil, err
	}
	return &Case{c}, err
}

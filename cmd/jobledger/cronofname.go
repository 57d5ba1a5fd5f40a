package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// cronsOf finds the CronJobs that are meant, the newest first, and their name. A name alone is that of a CronJob, or else of a Job or a pod:
// then the CronJob that made the Job is meant, and that is said.
func (c *cli) cronsOf(ctx context.Context, src history.Source, p inSpace, h handle) (lives []events.Stream, name string, err error) {
	if !h.any {
		lives, err = c.findCronJobs(ctx, src, p, h.name)
		return lives, h.name, err
	}
	if lives, err = c.seekCronJobs(ctx, src, p, h.name); len(lives) > 0 || err != nil {
		return lives, h.name, err
	}
	made, in, err := c.kindOf(ctx, src, p, h.name)
	if err != nil {
		return nil, h.name, err
	}
	jobs, err := c.findJobs(ctx, src, in, made)
	if err != nil {
		return nil, h.name, err
	}
	job, err := history.JobAt(ctx, src, jobs[0], history.Point{})
	switch origin := job.Origin; {
	case err != nil && !src.Beside(err):
		return nil, h.name, err
	case origin == nil || origin.Kind != "CronJob":
		return nil, h.name, usage("%s was not made by a CronJob; 'jobledger explain %s' says how it is", words.Clean(made.String()), words.Clean(made.String()))
	default:
		fmt.Fprintf(c.err, "note: %s is of cronjob/%s\n", words.Clean(made.String()), words.Clean(origin.Name))
		return []events.Stream{events.CronJobStream(types.UID(origin.UID))}, origin.Name, nil
	}
}

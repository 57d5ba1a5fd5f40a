package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// getJob shows one Job, and what it becomes if that is wanted.
func (c *cli) getJob(ctx context.Context, src history.Source, f *getFlags, h which.Object) error {
	at, err := f.at.In(ctx, c.here(src))
	if err != nil {
		return err
	}
	head, err := endOf(ctx, src, f.watch)
	if err != nil {
		return err
	}
	stream, job, err := c.jobAt(ctx, src, &f.job, h, at)
	switch {
	case errors.Is(err, history.ErrNoJob) && f.at.Given():
		return c.here(src).NothingAt(ctx, h, &f.at)
	case errors.Is(err, history.ErrNoJob):
		return fmt.Errorf("the log knows no %s", h)
	case err != nil && job.UID == "":
		return err
	}
	if shown := c.showJob(f, &job); shown != nil || err != nil {
		return errors.Join(shown, err) // with an error of the log, it is the state where that cannot be read any further
	}
	if !f.watch {
		return nil
	}
	return unlessInterrupted(ctx, c.watchJob(ctx, src, f, stream, &job, head+1))
}

// endOf is the end of the log, if it is wanted.
func endOf(ctx context.Context, src history.Source, wanted bool) (events.Sequence, error) {
	if !wanted {
		return 0, nil
	}
	_, head, err := src.Head(ctx)
	return head.Sequence, err
}

func (c *cli) showJob(f *getFlags, job *history.Job) error {
	switch {
	case f.output.document():
		return c.value(&f.output, job)
	case f.output.format == formatName:
		_, err := fmt.Fprintln(c.out, nameOf(words.Clean(job.Name)))
		return err
	}
	return c.page(&f.output).Job(job)
}

// jobAt is the state of the newest Job that may be meant that there was at that point.
func (c *cli) jobAt(ctx context.Context, src history.Source, f *jobFlags, h which.Object, at history.Point) (events.Stream, history.Job, error) {
	streams, err := c.finder(src).Jobs(ctx, f.place(), h)
	if err != nil {
		return events.Stream{}, history.Job{}, err
	}
	for i, s := range streams {
		job, err := history.JobAt(ctx, src, s, at)
		if errors.Is(err, history.ErrNoJob) && i+1 < len(streams) {
			continue
		}
		if err == nil {
			c.finder(src).NoteOlder(streams[i+1:])
		}
		return s, job, err
	}
	return events.Stream{}, history.Job{}, history.ErrNoJob
}

// watchJob shows the Job again whenever a batch of records changed it, from that record on.
func (c *cli) watchJob(ctx context.Context, src history.Source, f *getFlags, s events.Stream, shown *history.Job, from events.Sequence) error {
	w := watched[history.Job]{
		at: func(_ context.Context, watch *history.Live, last *events.Record) (history.Job, bool, error) {
			job, ok := watch.Job(s, last)
			return job, ok, nil
		},
		said: unplaced, show: func(job *history.Job) error { return c.showJob(f, job) },
	}
	return w.again(ctx, c.out, between[f.output.format], src, s, shown, shown.AsOf, from)
}

// unlessInterrupted is the error of what goes on until it is interrupted.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// between is what stands between two states of a Job.
var between = map[string]string{formatTable: "\n", formatWide: "\n", formatYAML: "---\n", formatPath: "\n"}

// unplaced is all that is said of a Job but as of which record.
func unplaced(job *history.Job) ([]byte, error) {
	j := *job
	j.AsOf, j.Clock, j.LastRecord = history.Place{}, "", 0
	return show.Indented(&j)
}

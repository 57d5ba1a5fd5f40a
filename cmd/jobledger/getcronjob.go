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

// getCronJob shows one CronJob, and what it becomes if that is wanted.
func (c *cli) getCronJob(ctx context.Context, src history.Source, f *getFlags, h which.Object) error {
	at, err := f.at.In(ctx, c.here(src))
	if err != nil {
		return err
	}
	head, err := endOf(ctx, src, f.watch)
	if err != nil {
		return err
	}
	stream, job, err := c.cronJobAt(ctx, src, &f.job, h.Name, at)
	switch {
	case errors.Is(err, history.ErrNoCronJob) && f.at.Given():
		return c.here(src).NothingAt(ctx, h, &f.at)
	case errors.Is(err, history.ErrNoCronJob):
		return fmt.Errorf("the log knows no %s", h)
	case err != nil && job.UID == "":
		return err
	}
	if shown := c.showCronJob(f, &job); shown != nil || err != nil {
		return errors.Join(shown, err) // with an error of the log, it is the state where that cannot be read any further
	}
	if !f.watch {
		return nil
	}
	return unlessInterrupted(ctx, c.watchCronJob(ctx, src, f, stream, &job, head+1))
}

// cronJobAt is the state of the newest CronJob that may be meant that there was at that point.
func (c *cli) cronJobAt(ctx context.Context, src history.Source, f *jobFlags, name string, at history.Point) (events.Stream, history.CronJob, error) {
	streams, err := c.finder(src).CronJobs(ctx, f.place(), name)
	if err != nil {
		return events.Stream{}, history.CronJob{}, err
	}
	s, job, err := c.finder(src).LifeAt(ctx, streams, name, at)
	if err == nil {
		c.finder(src).NoteLives(ctx, s, job.Namespace, job.Name)
	}
	return s, job, err
}

func (c *cli) showCronJob(f *getFlags, job *history.CronJob) error {
	switch {
	case f.output.document():
		return c.value(&f.output, job)
	case f.output.format == formatName:
		_, err := fmt.Fprintln(c.out, cronNameOf(words.Clean(job.Name)))
		return err
	}
	return c.page(&f.output).CronJob(job)
}

// watchCronJob shows the CronJob again whenever a batch of records changed it, from that record on.
func (c *cli) watchCronJob(ctx context.Context, src history.Source, f *getFlags, s events.Stream, shown *history.CronJob, from events.Sequence) error {
	w := watched[history.CronJob]{
		at: func(ctx context.Context, watch *history.Live, last *events.Record) (history.CronJob, bool, error) {
			return watch.CronJob(ctx, s, last)
		},
		said: unplacedCron, show: func(job *history.CronJob) error { return c.showCronJob(f, job) },
	}
	return w.again(ctx, c.out, between[f.output.format], src, s, shown, shown.AsOf, from)
}

// unplacedCron is all that is said of a CronJob but as of which record.
func unplacedCron(job *history.CronJob) ([]byte, error) {
	j := *job
	j.AsOf, j.Clock, j.LastRecord = history.Place{}, "", 0
	return show.Indented(&j)
}

// cronNameOf is a CronJob as kubectl names it.
func cronNameOf(name string) string { return "cronjob.batch/" + name }

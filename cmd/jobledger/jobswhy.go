package main

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
)

// jobsWhy says of each Job of a list why, before it is written.
type jobsWhy struct {
	jobsOut
	ctx    context.Context
	src    history.Source
	lines  *explain.Lines
	live   bool
	unread error // why not all records could be read
}

func newJobsWhy(ctx context.Context, src history.Source, f *getFlags, out jobsOut) *jobsWhy {
	lines := explain.LinesOf
	if f.watch {
		lines = explain.LiveLines
	}
	w := &jobsWhy{jobsOut: out, ctx: ctx, src: src, lines: lines(src), live: f.watch}
	w.lines.Zone = f.output.textZone()
	return w
}

func (w *jobsWhy) add(jobs []history.Summary) error {
	for i := range jobs {
		var at history.Point
		if w.live {
			at.Sequence = events.Sequence(jobs[i].Last)
		}
		why, err := w.lines.Of(w.ctx, &jobs[i], at)
		switch {
		case w.src.Beside(err):
			w.unread = err
		case err != nil:
			return err
		}
		jobs[i].Why = why
	}
	return w.jobsOut.add(jobs)
}

func (w *jobsWhy) end(page history.JobsPage) error {
	err := errors.Join(w.jobsOut.end(page), w.unread)
	w.unread = nil
	return err
}

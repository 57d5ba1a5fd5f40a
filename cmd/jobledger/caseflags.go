package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/history"
)

// caseFlags choose a Job whose case is told, as of when, and in what form: the flags that explain, attempts and timeline share.
type caseFlags struct {
	job    jobFlags
	output outputFlag
	at     pointFlag
	limit  limitFlag // of attempts and timeline
}

func (f *caseFlags) add(cmd *cobra.Command, c *cli, formats ...string) {
	f.job.add(cmd, c, "where the Job is (\"default\")")
	f.output.addFormats(cmd, formats...)
	f.output.addLocal(cmd)
	f.at.add(cmd, "the answer")
	cmd.ValidArgsFunction = c.completeJobs(&f.job, false)
}

// oneJobArg is for commands that take one Job.
func oneJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("say which Job: job/NAME")
	}
	return atMost(2, args)
}

// read opens the source and reads the case that the arguments name. With an error that says how the log is damaged there may be a case
// too. The caller closes the source, if there is one.
func (f *caseFlags) read(ctx context.Context, c *cli, args []string) (history.Source, *explain.Case, error) {
	if err := f.output.validate(); err != nil {
		return nil, nil, err
	}
	if err := cmp.Or(f.limit.validate(), f.at.parse(f.output.zone())); err != nil {
		return nil, nil, err
	}
	h, err := parseJobHandle(args)
	if err != nil {
		return nil, nil, err
	}
	if h == (handle{}) {
		return nil, nil, usage("say which Job: job/NAME")
	}
	src, at, err := f.open(ctx, c)
	if err != nil {
		return src, nil, err
	}
	found, err := c.caseOf(ctx, src, &f.job, h, at)
	if found != nil {
		found.In(f.output.textZone())
	}
	return src, found, err
}

// open opens the source, and finds the point that is asked for. The caller closes the source, if there is one.
func (f *caseFlags) open(ctx context.Context, c *cli) (history.Source, history.Point, error) {
	src, _, err := f.job.source.openToFold(ctx, c)
	if err != nil {
		return nil, history.Point{}, err
	}
	at, err := f.at.point(ctx, c, src)
	return src, at, err
}

// caseOf reads the newest Job that may be meant that there was at that point.
func (c *cli) caseOf(ctx context.Context, src history.Source, f *jobFlags, h handle, at history.Point) (*explain.Case, error) {
	streams, err := c.findJobs(ctx, src, orDefault(f.namespace), h)
	if err != nil {
		return nil, err
	}
	for i, s := range streams {
		found, err := explain.Read(ctx, src, s, at)
		if errors.Is(err, history.ErrNoJob) && i+1 < len(streams) {
			continue
		}
		if errors.Is(err, history.ErrNoJob) {
			break
		}
		if err == nil {
			c.noteOlder(streams[i+1:])
		}
		return found, err
	}
	return nil, fmt.Errorf("the log knows no %s at that point", h)
}

package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
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

// question is what the arguments name, and where it is read. The caller closes the source, if there is one.
type question struct {
	src    history.Source
	at     history.Point
	handle which.Object // its kind is known
	place  which.Place
}

// ask opens the source, and finds out what the arguments name: a Job, if that is wanted, or also a CronJob.
func (f *caseFlags) ask(ctx context.Context, c *cli, args []string, job bool) (a question, err error) {
	if err := f.output.validate(); err != nil {
		return a, err
	}
	if err := cmp.Or(f.limit.validate(), f.at.parse(f.output.zone())); err != nil {
		return a, err
	}
	if a.handle, err = f.job.object(args); err != nil {
		return a, err
	}
	switch {
	case a.handle.Kind == which.CronJob && job:
		return a, which.WantJob(args, a.handle)
	case a.handle.Name == "":
		return a, usage("say which Job: job/NAME")
	}
	if a.src, a.at, err = f.open(ctx, c); err != nil {
		return a, err
	}
	a.handle, err = f.job.resolve(ctx, c, a.src, a.handle)
	if a.place = f.job.place(); err == nil && a.handle.Kind == which.CronJob && job {
		return a, usage("%q is a CronJob, and one Job is wanted: 'get cronjob/%s -n %s' names its Jobs", args[0], a.handle.Name, a.place.Namespace)
	}
	return a, err
}

// read opens the source and reads the case of the Job that the arguments name. With an error that says how the log is damaged there may be a case
// too. The caller closes the source, if there is one.
func (f *caseFlags) read(ctx context.Context, c *cli, args []string) (history.Source, *explain.Case, error) {
	a, err := f.ask(ctx, c, args, true)
	if err != nil {
		return a.src, nil, err
	}
	found, err := c.caseOf(ctx, f, &a)
	if found != nil && len(found.Lives) > 1 {
		fmt.Fprintf(c.err, "note: %s\n", words.Clean(show.Lives(found.Lives, f.output.zone())))
	}
	return a.src, found, err
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

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/history"
)

// caseFlags choose a Job whose case is told, and as of when.
type caseFlags struct {
	source    sourceFlags
	output    outputFlag
	namespace string
	at        string
}

func (f *caseFlags) add(cmd *cobra.Command, formats ...string) {
	f.source.add(cmd)
	f.output.addFormats(cmd, formats...)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "where the Job is (\"default\")")
	cmd.Flags().StringVar(&f.at, "at", "", "as of a record's sequence (41) or a time (2026-01-02T15:04:05Z)")
}

// oneJobArg is for commands that take one Job.
func oneJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("say which Job: job/NAME")
	}
	return cobra.MaximumNArgs(2)(nil, args)
}

// read opens the source and reads the case that the arguments name. With an error that says how the log is damaged there may be a case
// too. The caller closes the source, if there is one.
func (f *caseFlags) read(ctx context.Context, c *cli, args []string) (history.Source, *explain.Case, error) {
	if err := f.output.validate(); err != nil {
		return nil, nil, err
	}
	at, err := parsePoint(f.at)
	if err != nil {
		return nil, nil, err
	}
	name, err := parseJob(args)
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		return nil, nil, usage("say which Job: job/NAME")
	}
	src, err := f.source.openToFold(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	found, err := c.caseOf(ctx, src, orDefault(f.namespace), name, at)
	return src, found, err
}

// caseOf reads the newest Job of that name that there was at that point.
func (c *cli) caseOf(ctx context.Context, src history.Source, namespace, name string, at history.Point) (*explain.Case, error) {
	streams, err := findJobs(ctx, src, namespace, name)
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
	return nil, fmt.Errorf("the log knows no job/%s at that point", name)
}

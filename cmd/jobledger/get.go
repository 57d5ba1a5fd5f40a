package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/show"
)

// getFlags choose a Job and a point in its history.
type getFlags struct {
	source    sourceFlags
	output    outputFlag
	namespace string
	at        string
	list      listFlags
}

// listFlags choose Jobs of a list, and how many.
type listFlags struct {
	states []string
	since  string
	limit  int
	after  string
}

func newGet(c *cli) *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:   "get job/NAME | get jobs",
		Short: "Show the state of a Job, now or then, or list all Jobs that the log knows",
		Long: `Show the state of a Job as the controller knows it, now or at an earlier time: its counts, its pods,
commands in flight, what it waits for and until when, refusals, and the last decision with its
reasons.

job/NAME is the newest Job of that name in the namespace (-n, "default" unless given). job/UID is
that Job, also after its object is deleted.

"get jobs" lists the Jobs in the log, deleted ones too, the newest first: 500, or --limit. When
there are more, it says so, and how to go on. -n, --state and --since restrict the list.

Deleted pods stay in the list. The time at which the deletion of a pod was asked for is exact if the
log has its grace period. Otherwise the latest possible time is shown.

-o json writes one object. Fields are only ever added to it. Times are RFC 3339 in UTC. That of
"get jobs" has items and, when there are more, continue: the value of --continue for the next page.`,
		Example: `  jobledger get job/demo --log DIR
  jobledger get job/demo --log DIR --at 41                      after record 41
  jobledger get job/demo --log DIR --at 2026-01-02T15:04:05Z    at that time
  jobledger get jobs --log DIR -n batch
  jobledger get jobs --log DIR --state Failed --since 24h`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("say what to get: job/NAME, or jobs for all")
			}
			return cobra.MaximumNArgs(2)(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.get(cmd.Context(), &f, args) },
	}
	f.source.add(cmd)
	f.output.add(cmd)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "where the Job is (\"default\"); of a list: only this namespace")
	cmd.Flags().StringVar(&f.at, "at", "", "the state as of a record's sequence (41) or a time (2026-01-02T15:04:05Z)")
	cmd.Flags().StringSliceVar(&f.list.states, "state", nil, "of a list: only Jobs in these states, such as Failed,Running")
	cmd.Flags().StringVar(&f.list.since, "since", "", "of a list: only Jobs with a record from this time on: 2h before now, or 2026-01-02T15:04:05Z")
	cmd.Flags().IntVar(&f.list.limit, "limit", usualJobs, "of a list: so many Jobs at most; 0 for all")
	cmd.Flags().StringVar(&f.list.after, "continue", "", "of a list: the page behind the one that gave this")
	completeWith(cmd, "state", stateNames()...)
	return cmd
}

func (c *cli) get(ctx context.Context, f *getFlags, args []string) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	at, err := parsePoint(f.at)
	if err != nil {
		return err
	}
	name, err := parseJob(args)
	if err != nil {
		return err
	}
	if name == "" && f.at != "" {
		return usage("--at is for one Job: write get job/NAME --at %s", f.at)
	}
	wanted, err := f.query()
	if err != nil {
		return err
	}
	if name != "" && f.list.given() {
		return usage("--state, --since, --limit and --continue are for lists: write get jobs")
	}
	src, err := f.source.openToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if name == "" {
		return c.getJobs(ctx, src, f, wanted)
	}
	job, err := c.jobAt(ctx, src, orDefault(f.namespace), name, at)
	switch {
	case errors.Is(err, history.ErrNoJob) && f.at != "":
		return fmt.Errorf("the log has no record of job/%s up to %s", name, f.at)
	case errors.Is(err, history.ErrNoJob):
		return fmt.Errorf("the log knows no job/%s", name)
	case err != nil && job.UID == "":
		return err
	}
	return errors.Join(c.showJob(f, &job), err) // with an error, it is the state where the log cannot be read any further
}

func (c *cli) showJob(f *getFlags, job *history.Job) error {
	switch f.output.format {
	case formatJSON, formatYAML:
		text, err := show.Indented(job)
		if err != nil {
			return err
		}
		return c.document(f.output.format, text)
	}
	return c.page(&f.output).Job(job)
}

// jobAt is the state of the newest Job of that name that there was at that point.
func (c *cli) jobAt(ctx context.Context, src history.Source, namespace, name string, at history.Point) (history.Job, error) {
	streams, err := findJobs(ctx, src, namespace, name)
	if err != nil {
		return history.Job{}, err
	}
	for i, s := range streams {
		job, err := history.JobAt(ctx, src, s, at)
		if errors.Is(err, history.ErrNoJob) && i+1 < len(streams) {
			continue
		}
		if err == nil {
			c.noteOlder(streams[i+1:])
		}
		return job, err
	}
	return history.Job{}, history.ErrNoJob
}

// page is where people are shown Jobs.
func (c *cli) page(output *outputFlag) *show.Page {
	page := &show.Page{Out: c.out, Colour: c.colour(), Wide: output.format == formatWide, Whole: c.piped()}
	if !page.Wide {
		page.Width = c.width()
	}
	return page
}

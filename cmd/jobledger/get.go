package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
)

// getFlags choose a Job and a point in its history, or Jobs of a list.
type getFlags struct {
	job    jobFlags
	output outputFlag
	at     ask.Point
	list   listFlags
	watch  bool
}

// listFlags choose Jobs of a list, how many, and their order.
type listFlags struct {
	states   []string
	selector ask.Selector
	span     ask.Span
	limit    ask.Limit
	after    string
	sortBy   string
	why      bool
}

func newGet(c *cli) *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:   "get [NAMESPACE/]NAME | get job/NAME | get jobs | get cronjob/NAME | get cronjobs",
		Short: "Show the state of a Job or a CronJob, now or then, or list all that the log knows",
		Long: `Show the state of a Job as the controller knows it, now or at an earlier time: its counts, its pods,
commands in flight, what it waits for and until when, refusals, and the last decision with its
reasons.

NAME alone is a Job, a CronJob or a pod. job/NAME is the newest Job of that name in the namespace:
that of -n, or of NAMESPACE/NAME, else "default". job/UID is that Job, also after its object is
deleted; the beginning of a UID is enough, from 4 characters on.
pod/NAME, or job/ with the name of a pod, is the Job of that pod.

--at 12:12:50 is that time on the newest day on which the log has it. --at 5m is five minutes ago.

cronjob/NAME is the newest CronJob of that name: its schedule, its due time that is open and what
holds that back, when it is due next, and its Jobs. cronjob/UID likewise.

"get jobs" lists the Jobs in the log, deleted ones too, the newest first: 500, or --limit. When
there are more, it says so, and how to go on. -n, --state, -l and --since restrict the list. -l is
that of kubectl, but the log has only those labels that the controller was told to keep
(run --keep-labels).

"get cronjobs" lists the CronJobs in the log likewise, without -l and --why.

--sort-by FIELD sorts all Jobs that are wanted by a field of their JSON, such as finished or
counts.failed, and shows the last 500, or --limit: those with the greatest values.

--why says in one line of each Job why it ended so, or what it waits for: the verdict of 'jobledger
explain'. It reads all records of the Jobs that it lists.

-w goes on until interrupted, and shows what changes: of a list each Job that changed, as it is
then. It needs a controller that writes the log.

Deleted pods stay in the list. The time at which the deletion of a pod was asked for is exact if the
log has its grace period. Otherwise the latest possible time is shown.

-o json writes one object. Fields are only ever added to it. Times are RFC 3339 in UTC. That of
"get jobs" has items and, when there are more, continue: the value of --continue for the next page.
With -w each Job is an object of its own. -o jsonpath takes these fields.`,
		Example: `  jobledger get job/demo --log DIR
  jobledger get job/demo --log DIR --at 41                      after record 41
  jobledger get job/demo --log DIR --at 2026-01-02T15:04:05Z    at that time
  jobledger get pod/demo-x7k2p --log DIR -o jsonpath='{.state}'
  jobledger get jobs --log DIR -n batch -l team=data
  jobledger get cronjobs --log DIR --state Held,Suspended
  jobledger get jobs --log DIR --state Failed --since 24h --sort-by finished
  jobledger get jobs --log DIR --why --since 1h
  jobledger get jobs -w --server http://127.0.0.1:10271`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("say what to get: job/NAME, or jobs for all; cronjob/NAME, or cronjobs")
			}
			return atMost(2, args)
		},
		ValidArgsFunction: c.completeObjects(&f.job, true),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.get(cmd.Context(), &f, args) },
	}
	f.job.add(cmd, c, "where the Job is (\"default\"); of a list: only this namespace")
	f.output.addObjects(cmd)
	f.output.addLocal(cmd)
	f.at.Bind(cmd.Flags(), "the state")
	flags := cmd.Flags()
	flags.StringSliceVar(&f.list.states, "state", nil, "of a list: only Jobs in these states, such as Failed,Running")
	f.list.selector.Bind(cmd.Flags(), "of a list: only Jobs with these labels")
	f.list.span.BindSince(cmd.Flags(), "of a list: only Jobs with a record from this time on")
	f.list.limit.Bind(cmd.Flags(), usualJobs, "of a list: so many Jobs at most")
	flags.StringVar(&f.list.after, "continue", "", "of a list: the page behind the one that gave this")
	flags.StringVar(&f.list.sortBy, "sort-by", "", "of a list: sort by this field, such as name, started or counts.failed")
	flags.BoolVar(&f.list.why, "why", false, "of a list: say in one line why each Job ended so, or what it waits for")
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on, and show what changes, until interrupted")
	completeWith(cmd, "state", unique(stateNames(), cronStateNames())...)
	completeWith(cmd, "sort-by", unique(sortNames(), cronSortNames())...)
	return cmd
}

func (c *cli) get(ctx context.Context, f *getFlags, args []string) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	if err := f.at.Read(f.output.zone()); err != nil {
		return err
	}
	h, err := f.job.object(args)
	if err != nil {
		return err
	}
	one := h.Name != ""
	switch {
	case !one && f.at.Given():
		return usage("--at is for one Job or CronJob: write get job/NAME --at %s", f.at.Text())
	case f.watch && f.at.Given():
		return usage("-w goes on from now, and --at shows how it was then: leave one out")
	case one && f.list.why:
		return usage("--why is for lists: 'jobledger explain %s' says why one Job ended so", h)
	case one && f.list.given():
		return usage("--state, -l, --since, --limit, --continue and --sort-by are for lists: write get jobs")
	}
	var wanted history.JobsQuery
	var crons history.CronJobsQuery
	if h.Kind == which.CronJob {
		crons, err = f.cronQuery()
	} else {
		wanted, err = f.query()
	}
	if err != nil {
		return err
	}
	src, live, err := f.job.source.openToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.watch && !live {
		return f.job.source.notLive()
	}
	if h, err = f.job.resolve(ctx, c, src, h); err != nil {
		return err
	}
	var now []history.Passed
	if !one {
		c.here(src).NoteUnlisted(ctx)
		if now, err = c.notePassed(ctx, src, f); err != nil {
			return err
		}
	}
	switch {
	case h.Kind == which.CronJob && one:
		return c.getCronJob(ctx, src, f, h)
	case h.Kind == which.CronJob:
		return c.getCronJobs(ctx, src, f, crons, now)
	case one:
		return c.getJob(ctx, src, f, h)
	}
	return c.getJobs(ctx, src, f, wanted, now)
}

// unique are the texts of two lists, each once.
func unique(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// page is where people are shown Jobs.
func (c *cli) page(output *outputFlag) *show.Page {
	page := &show.Page{
		Out: c.out, Colour: c.colour(), Wide: output.format == formatWide, Whole: c.piped(), Zone: output.zone(),
	}
	if !page.Wide {
		page.Width = c.width()
		_, page.Asked = c.askedWidth()
	}
	return page
}

// nameOf is an object as kubectl names it.
func nameOf(name string) string { return "job.batch/" + name }

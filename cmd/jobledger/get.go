package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
)

// getFlags are the flags of get. They choose an object and a time in its past, or the objects of a list.
type getFlags struct {
	cli.AskFlags
	one    *ask.Asked[ask.State]
	jobs   *ask.Asked[history.JobsPage]
	crons  *ask.Asked[history.CronJobsPage]
	limit  ask.Limit // limits all pages of a list together
	sortBy string
	watch  bool
}

const getHelp = `Show the state of a Job as the controller knows it, now or at an earlier time: its counts, its pods,
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
With -w each Job is an object of its own. -o jsonpath takes these fields.`

func newGet(c *cli.CLI) *cobra.Command {
	f := getFlags{one: ask.Get.New(), jobs: ask.Jobs.New(), crons: ask.CronJobs.New()}
	cmd := &cobra.Command{
		Use:   "get [NAMESPACE/]NAME | get job/NAME | get jobs | get cronjob/NAME | get cronjobs",
		Short: "Show the state of a Job or a CronJob, now or then, or list all that the log knows",
		Long:  getHelp,
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
				return cli.Usage("say what to get: job/NAME, or jobs for all; cronjob/NAME, or cronjobs")
			}
			return cli.AtMost(2, args)
		},
		ValidArgsFunction: cli.CompleteObjects(c, &f.Job, true),
		RunE:              func(cmd *cobra.Command, args []string) error { return runGet(cmd.Context(), c, &f, args) },
	}
	f.Job.Add(cmd, c, "where the Job is (\"default\"); of a list: only this namespace")
	f.Job.AddCluster(cmd)
	f.Output.AddObjects(cmd)
	f.Output.AddLocal(cmd)
	cli.AddParameters(cmd, f.one.Flags)
	f.addList(cmd)
	flags := cmd.Flags()
	f.limit.Bind(flags, ask.UsualPage, "of a list: so many Jobs at most")
	flags.StringVar(&f.sortBy, "sort-by", "", "of a list: sort by this field, such as name, started or counts.failed")
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on, and show what changes, until interrupted")
	cli.CompleteWith(cmd, "state", unique(ask.StateNames(), ask.CronStateNames())...)
	cli.CompleteWith(cmd, "sort-by", unique(sortNames(), cronSortNames())...)
	return cmd
}

// addList adds the parameters of lists to cmd as flags. If both lists (Jobs and CronJobs) have a parameter, the one of
// the list of Jobs is used.
func (f *getFlags) addList(cmd *cobra.Command) {
	f.jobs.Flags.VisitAll(func(p *pflag.Flag) {
		if p.Name != "limit" && !slices.Contains(ask.HiddenOfLists, p.Name) && !cli.OfCommand[p.Name] {
			p.Usage = "of a list: " + p.Usage
			cmd.Flags().AddFlag(p)
		}
	})
}

// changed reports whether the user gave this flag of lists.
func (f *getFlags) changed(name string) bool { return f.jobs.Flags.Lookup(name).Changed }

func (f *getFlags) listGiven() bool {
	return f.changed("state") || f.changed("selector") || f.changed("since") || f.limit.Most != ask.UsualPage || f.changed("continue") || f.sortBy != ""
}

func runGet(ctx context.Context, c *cli.CLI, f *getFlags, args []string) error {
	if err := f.Output.Validate(); err != nil {
		return err
	}
	h, _, err := which.Parse(args)
	if err != nil {
		return err
	}
	if h.Name != "" {
		return getOne(ctx, c, f, args, h)
	}
	if at := f.one.Flags.Lookup("at"); at.Changed {
		return cli.Usage("--at is for one Job or CronJob: write get job/NAME --at %s", at.Value)
	}
	list := f.listJobs()
	if h.Kind == which.CronJob {
		list = f.listCronJobs()
	}
	if err := list.read(); err != nil {
		return err
	}
	src, live, err := f.Job.Source.OpenToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.watch && !live {
		return f.Job.Source.NotLive()
	}
	return list.show(ctx, c, src)
}

// checkList returns a usage error for flags of a list that contradict each other. what names the list.
func (f *getFlags) checkList(what string) error {
	switch {
	case f.changed("continue") && f.sortBy != "":
		return cli.Usage("--continue goes on with the newest first, and --sort-by has another order: leave one out")
	case f.changed("continue") && f.watch:
		return cli.Usage("-w begins with the newest %s, and --continue goes on behind them: leave one out", what)
	}
	return f.limit.Read()
}

// unique returns the texts of both lists, each once.
func unique(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// nameOf returns the name of a Job as kubectl prints it: job.batch/NAME.
func nameOf(name string) string { return "job.batch/" + name }

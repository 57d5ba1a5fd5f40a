package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
)

func newFailures(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Failures.New()
	cmd := &cobra.Command{
		Use:   "failures",
		Short: q.About,
		Long: `List Jobs that are stuck or failed, and why: the stuck ones first, then the newest failure. There is one
line a cause: JOBS is how many fared alike, from SINCE to LAST. -o wide has a line for each Job, and
'jobledger explain NAME' says more of one.

A Job is stuck when none of its pods runs and nothing goes on by itself: a pod that cannot be
scheduled, an image that cannot be pulled, a container that crashes again and again, or pods that the
API server refuses. A CronJob is stuck when it is held, does not start, is never due, or when none of
its Jobs comes to an end. All that is stuck is told, whenever it was heard of last; -l leaves CronJobs
out, as the log keeps no labels of them.

With --until the list is as of that time: a Job that was stuck then is told, though it got on later.

-l is that of kubectl, but the log has only those labels that the controller was told to keep
(run --keep-labels).`,
		Example: `  jobledger failures --log DIR --since 1h -n prod
  jobledger failures --log DIR -A -l team=data --since 12:00 --until 13:00 --local
  jobledger failures --log DIR --since 24h --near-misses -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage("failures is of many Jobs: 'jobledger explain %s' says why one failed", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(found *failures.Failures) error {
				if f.Output.Document() {
					return c.Value(&f.Output, found)
				}
				page := c.Page(&f.Output)
				page.Namespace = f.Job.Namespace
				if err := page.Failures(found); err != nil {
					return err
				}
				if found.Looked == 0 && f.Job.Namespace != "" {
					tellNoJobs(c, f.Job.Namespace)
				}
				return nil
			})
		},
	}
	f.AddMany(cmd, c, q.Flags)
	return cmd
}

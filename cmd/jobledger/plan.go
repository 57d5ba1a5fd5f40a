package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/plan"
)

func newPlan(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Plan.New()
	cmd := &cobra.Command{
		Use:   "plan",
		Short: q.About,
		Long: `Say whose future Jobs could come here, what has to be written for that, and what would have been
different so far: an owner a line, the one with the most Jobs first. An owner is the object that
controls Jobs, such as a CronJob, or the field manager that made them.

It is read from a log that has observed the Jobs (run --manage=observe, or --observe=others). A Job that
exists stays with the controller that it has: spec.managedBy cannot be changed. The policies in
deploy/policy set it for new Jobs of the namespaces with a label.

Below an owner stands what would have been decided otherwise: the reason, of how many Jobs, and the
first record of it. Pods that our rules wanted too, and that did not come, are told apart: whether the
API server refused them, or their controller did not ask for them, is not in the log.`,
		Example: `  jobledger plan --log DIR --since 168h
  jobledger plan --log DIR -n prod -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage("plan is of all owners, and takes no %q: -n NAMESPACE chooses those of a namespace", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(made *plan.Plan) error {
				switch {
				case f.Output.Document():
					return c.Value(&f.Output, made)
				case len(made.Owners) == 0:
					tellNoJobs(c, f.Job.Namespace)
					return nil
				}
				page := c.Page(&f.Output)
				page.Namespace = f.Job.Namespace
				return page.Plan(made)
			})
		},
	}
	f.AddMany(cmd, c, q.Flags)
	return cmd
}

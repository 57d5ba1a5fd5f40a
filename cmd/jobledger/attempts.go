package main

import (
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
)

func newAttempts(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Attempts.New()
	cmd := &cobra.Command{
		Use:   "attempts [NAMESPACE/]NAME | attempts job/NAME",
		Short: q.About,
		Long: `List the tries of a Job, by index: each pod that it had, deleted ones too, on which node it ran and for
how long, who ended it, its exit codes, as what it counted, and when the next try could come.

ENDED BY is "itself" when the pod's containers ended, "its own deadline" or "its own limit" when its
own spec stopped it; otherwise it says who deleted or stopped the pod, or "unknown". RAN is by our own
clock when both its beginning and its end were seen, otherwise by the node's, in whole seconds; ≤ says
that it was no more than that.

-o wide adds how it ended in words, UIDs, and between which records.`,
		Example: `  jobledger attempts job/etl --log DIR -n prod
  jobledger attempts job/etl --log DIR -n prod --failed -o json`,
		Args: cli.OneJobArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(page *ask.AttemptsPage) error {
				if f.Output.Document() {
					return c.Value(&f.Output, page)
				}
				return c.Page(&f.Output).Attempts(page.Items, page.Sum)
			})
		},
	}
	f.Add(cmd, c, q.Flags, cli.Formats...)
	return cmd
}

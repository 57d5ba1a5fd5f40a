package main

import (
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
)

func newTimeline(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Timeline.New()
	cmd := &cobra.Command{
		Use:   "timeline [NAMESPACE/]NAME | timeline job/NAME",
		Short: q.About,
		Long: `Draw when the tries of a Job did what: one row an index, or a pod of a Job without indexes. Times in
which the cluster was not watched are marked in each row: what is shown there is not known.

When there are more rows than --limit, those with failures come first.`,
		Example: `  jobledger timeline job/train --log DIR -n prod`,
		Args:    cli.OneJobArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(t *explain.Timeline) error {
				if f.Output.Document() {
					return c.Value(&f.Output, t)
				}
				page := c.Page(&f.Output)
				page.Width = c.Width()
				return page.Timeline(t)
			})
		},
	}
	f.Add(cmd, c, q.Flags, cli.FormatTable, cli.FormatJSON, cli.FormatYAML)
	return cmd
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/picture"
)

// formatSVG is the output format of the picture of a Job's history.
const formatSVG = "svg"

func newTimeline(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Timeline.New()
	cmd := &cobra.Command{
		Use:   "timeline [NAMESPACE/]NAME | timeline job/NAME",
		Short: q.About,
		Long: `Draw when the tries of a Job did what: one row an index, or a pod of a Job without indexes. Times in
which the cluster was not watched are marked in each row: what is shown there is not known.

When there are more rows than --limit, those with failures come first.

-o svg draws a picture, with how many pods were wanted, edits and decisions beside the tries, for a light
and for a dark page.`,
		Example: `  jobledger timeline job/train --log DIR -n prod
  jobledger timeline job/train --log DIR -n prod -o svg --limit 0 > train.svg`,
		Args: cli.OneJobArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(t *attempts.Timeline) error {
				if f.Output.Document() {
					return c.Value(&f.Output, t)
				}
				if f.Output.Format == formatSVG {
					svg := picture.Timeline(t, picture.Options{Alone: true, Title: "timeline of " + args[len(args)-1], Zone: f.Output.Zone()})
					if svg == nil {
						svg = picture.Empty(args[len(args)-1])
					}
					_, err := c.Out.Write(picture.ASCII(svg))
					return err
				}
				page := c.Page(&f.Output)
				page.Width = c.Width()
				return page.Timeline(t)
			})
		},
	}
	f.Add(cmd, c, q.Flags, cli.FormatTable, formatSVG, cli.FormatJSON, cli.FormatYAML)
	return cmd
}

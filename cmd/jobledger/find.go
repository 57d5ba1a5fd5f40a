package main

import (
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
)

func newFind(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Find.New()
	cmd := &cobra.Command{
		Use:   "find TEXT",
		Short: q.About,
		Long: `Find Jobs and CronJobs by a piece of a name or of a UID, pods by a piece of a name, and a record by its
number (384 or #384). Case does not matter. Whole names come first, then names that begin with TEXT,
then the others, and of each the newest first.

The names of the newest 50,000 Jobs and of as many CronJobs are looked at. For a text of three characters
or more, the records of the newest 1,000 Jobs are read for names of pods. The first line says how many
were looked at, and whether there are older ones.`,
		Example: `  jobledger find etl --log DIR
  jobledger find x7f2k --log DIR -n prod    the pod etl-x7f2k
  jobledger find 6ce21dcc --log DIR         by the beginning of a UID`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage("say what to find: a piece of a name, a pod's name or a UID, or the number of a record")
			}
			return cli.AtMost(1, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(found *ask.Found) error {
				if f.Output.Document() {
					return c.Value(&f.Output, found)
				}
				page := c.Page(&f.Output)
				return page.Found(&found.Pieces)
			})
		},
	}
	f.AddMany(cmd, c, q.Flags)
	return cmd
}

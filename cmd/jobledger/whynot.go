package main

import (
	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain/whynot"
)

func newWhyNot(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.WhyNot.New()
	cmd := &cobra.Command{
		Use:   "why-not [NAMESPACE/]NAME TIME | why-not cronjob/NAME TIME",
		Short: q.About,
		Long: `Say what became of an instant: whether it was a due time of the CronJob, whether a Job was started for
it, and if not, what held it back. TIME is a moment, a time of day, or how long ago, in UTC unless it
names a zone (2026-01-02T03:00+01:00), or with --local in the time zone of this machine.

NAME alone is a CronJob, or a Job or a pod that one made: then it is that CronJob. What is not in the
namespace and in one other is taken there, unless -n or NAMESPACE/NAME says where.

Each sentence ends with the numbers of the records that it follows from. Of an instant that is no due
time the nearest due times are named.`,
		Example: `  jobledger why-not cronjob/nightly 2026-01-02T03:00 --log DIR -n batch`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usage("say which CronJob, and when: cronjob/NAME 2026-01-02T15:04")
			}
			return cli.AtMost(3, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(answer *whynot.WhyNot) error {
				if f.Output.Document() {
					return c.Value(&f.Output, answer)
				}
				page := c.Page(&f.Output)
				page.Width = c.Width()
				return page.Sentences(answer.Sentences)
			})
		},
	}
	f.AddCron(cmd, c, q.Flags)
	f.Output.AddLocal(cmd)
	return cmd
}

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

func newNext(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Next.New()
	cmd := &cobra.Command{
		Use:   "next [NAMESPACE/]NAME | next cronjob/NAME",
		Short: q.About,
		Long: `Show when a CronJob is due next, in the zone of its schedule and in UTC, by the newest schedule that
the log has and by the rules of the zone that the log has.`,
		Example: `  jobledger next cronjob/nightly --log DIR -n batch --count 3`,
		Args:    cli.OneCronJobArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(due *ask.DueNext) error {
				if f.Output.Document() {
					return c.Value(&f.Output, due)
				}
				return showNext(c, due)
			})
		},
	}
	f.AddCron(cmd, c, q.Flags)
	return cmd
}

func showNext(c *cli.CLI, due *ask.DueNext) error {
	head := []string{"DUE (UTC)", "DUE (" + words.Clean(due.Zone) + ")"}
	if due.Zone == time.UTC.String() {
		head = head[:1]
	}
	table := show.Table{Out: c.Out, Head: head, Width: c.Width(), Colour: c.Colour()}
	for _, item := range due.Items {
		t, err := time.Parse(time.RFC3339, item.Local)
		if err != nil {
			return fmt.Errorf("read a due time: %w", err)
		}
		local := show.Cell{Text: t.Format("Mon ") + show.DueText(t) + t.Format(" -07:00")}
		table.Row([]show.Cell{{Text: instant(item.Due)}, local}[:len(head)]...)
	}
	return table.Flush()
}

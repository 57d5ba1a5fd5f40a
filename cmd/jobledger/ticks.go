package main

import (
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/words"
)

func newTicks(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	q := ask.Ticks.New()
	cmd := &cobra.Command{
		Use:   "ticks [NAMESPACE/]NAME | ticks cronjob/NAME",
		Short: q.About,
		Long: `Show what became of each due time of a CronJob, in order: started (with the Job, and how late), merged
into a later one, too late, refused, lost, missed while no controller watched, or dropped. Why stands
behind it where the log proves it. Due times that had the same fate in a row are one line. The last line
is the one that is open, with what holds it back. Jobs that users made by hand, or asked for, have lines
of their own.

Times are in UTC, or with --local in the time zone of this machine. The number is that of the record
that says so: 'jobledger events --from N --limit 1'.

NAME alone is a CronJob, or a Job or a pod that one made: then it is that CronJob. What is not in the
namespace and in one other is taken there, unless -n or NAMESPACE/NAME says where.

The last 500 lines are shown, or --tail. --missed leaves out what was started. Of several CronJobs that
bore the name it is the newest, or with --at the newest that there was then; a UID names one of them.`,
		Example: `  jobledger ticks cronjob/nightly --log DIR -n batch
  jobledger ticks cronjob/nightly --log DIR -n batch --at 2026-01-02T15:04    as it was then
  jobledger ticks cronjob/nightly --log DIR -n batch --missed --since 7d`,
		Args: cli.OneCronJobArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(answer *ask.DueTicks) error {
				if f.Output.Document() {
					return c.Value(&f.Output, answer)
				}
				return showTicks(c, &f.Output, answer)
			})
		},
	}
	f.AddCron(cmd, c, q.Flags)
	f.Output.AddLocal(cmd)
	return cmd
}

func showTicks(c *cli.CLI, output *cli.OutputFlag, answer *ask.DueTicks) error {
	page := c.Page(output)
	table := show.Table{Out: c.Out, Head: []string{"DUE (UTC)", "TIMES", "RECORD", "JOB", "FATE"}, Width: c.RowWidth(), Whole: c.Piped(), Fold: true, Colour: c.Colour()}
	if output.Local {
		table.Head[0] = "DUE"
	}
	for i := range answer.Items {
		table.Row(page.TickCells(&answer.Items[i])...)
	}
	if answer.Due != nil {
		table.Row(page.OpenCells(answer.Due)...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	switch {
	case answer.Earlier:
		fmt.Fprintf(c.Err, "note: there are earlier ones: --tail 0 shows all\n")
	case len(answer.Items) == 0 && answer.Due == nil:
		fmt.Fprintln(c.Err, "No due times found.")
	}
	tellMissing(c, answer, output.Zone())
	return nil
}

// tellMissing prints notes about due times (instants of a CronJob's schedule) that may be missing in the list.
func tellMissing(c *cli.CLI, a *ask.DueTicks, zone words.Zone) {
	noteTimes(c, a.PassedOver, zone)
	if a.Unrecorded > 0 {
		fmt.Fprintf(c.Err, "note: %s of the CronJob and its Jobs not recorded: too many in a short time\n",
			words.Count(int(min(a.Unrecorded, math.MaxInt)), "version"))
	}
	if len(a.PassedOver) > 0 || a.Unrecorded > 0 {
		fmt.Fprintln(c.Err, "note: a due time without a Job may have had one then")
	}
}

// instant returns a due time as text for people, in UTC. Seconds appear only if they are not 0.
func instant(t time.Time) string { return show.DueText(t.UTC()) }

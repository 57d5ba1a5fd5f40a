package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/duetimes"
	"github.com/jobledger/jobledger/internal/show"
	"github.com/jobledger/jobledger/internal/words"
)

// mostDue is how many due times next shows at most.
const mostDue = 1000

func newNext(c *cli) *cobra.Command {
	var f cronFlags
	count := 10
	cmd := &cobra.Command{
		Use:   "next cronjob/NAME",
		Short: "Show when a CronJob is due next, in its zone and in UTC",
		Long: `Show when a CronJob is due next, in the zone of its schedule and in UTC, by the newest schedule that
the log has and by the rules of the zone that the log has.`,
		Example: `  jobledger next cronjob/nightly --log DIR -n batch --count 3`,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if count < 1 || count > mostDue {
				return usage("--count %d: must be from 1 to %d", count, mostDue)
			}
			return c.nextDue(cmd.Context(), &f, args, count)
		},
	}
	f.add(cmd, c)
	cmd.Flags().IntVar(&count, "count", count, "how many due times")
	return cmd
}

// dueItem is a due time to come.
type dueItem struct {
	Due   time.Time `json:"due"`
	Local string    `json:"local"` // in the zone of the schedule
}

func (c *cli) nextDue(ctx context.Context, f *cronFlags, args []string, count int) error {
	src, cronJob, err := f.read(ctx, c, args)
	if src != nil {
		defer src.Close()
	}
	if err != nil {
		return err
	}
	due, zone, err := cronJob.Next(time.Now(), count)
	if err != nil {
		return fmt.Errorf("cronjob/%s: %w", cronJob.Ref.Name, err)
	}
	if note := idle(cronJob); note != "" {
		fmt.Fprintf(c.err, "note: %s\n", note)
	}
	items := []dueItem{}
	for _, t := range due {
		items = append(items, dueItem{t.UTC(), t.In(zone).Format(time.RFC3339)})
	}
	if f.output.document() {
		return c.value(&f.output, struct {
			Namespace string    `json:"namespace"`
			Name      string    `json:"name"`
			Schedule  string    `json:"schedule"`
			Zone      string    `json:"zone"`
			Items     []dueItem `json:"items"`
		}{cronJob.Ref.Namespace, cronJob.Ref.Name, cronJob.Seen.Schedule, zone.String(), items})
	}
	table := show.Table{Out: c.out, Head: []string{"DUE (UTC)", "DUE (" + words.Clean(zone.String()) + ")"}, Width: c.width(), Colour: c.colour()}
	for _, t := range due {
		table.Row(show.Cell{Text: instant(t)}, show.Cell{Text: t.In(zone).Format("Mon 2006-01-02 " + clockOf(t) + " -07:00")})
	}
	return table.Flush()
}

// idle says why nothing starts at the due times to come; empty when it does.
func idle(cronJob *duetimes.CronJob) string {
	switch {
	case cronJob.Gone != 0:
		return "the CronJob is deleted"
	case cronJob.Seen.Deleted != 0:
		return "the CronJob is being deleted, so nothing starts any more"
	case cronJob.Seen.Suspend:
		return "the CronJob is suspended, so nothing starts"
	}
	return ""
}

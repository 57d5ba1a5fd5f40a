package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// mostDue is how many due times next shows at most.
const mostDue = 1000

func newNext(c *cli) *cobra.Command {
	var f cronFlags
	count, after := 10, ""
	cmd := &cobra.Command{
		Use:   "next [NAMESPACE/]NAME | next cronjob/NAME",
		Short: "Show when a CronJob is due next, in its zone and in UTC",
		Long: `Show when a CronJob is due next, in the zone of its schedule and in UTC, by the newest schedule that
the log has and by the rules of the zone that the log has.`,
		Example: `  jobledger next cronjob/nightly --log DIR -n batch --count 3`,
		Args:    oneCronJobArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if count < 1 || count > mostDue {
				return usage("--count %d: must be from 1 to %d", count, mostDue)
			}
			return c.nextDue(cmd.Context(), &f, args, count, after)
		},
	}
	f.add(cmd, c)
	cmd.Flags().IntVar(&count, "count", count, "how many due times")
	cmd.Flags().StringVar(&after, "after", "", "those after this time, such as 2026-01-02T15:04; after now unless given")
	return cmd
}

// dueItem is a due time to come.
type dueItem struct {
	Due   time.Time `json:"due"`
	Local string    `json:"local"` // in the zone of the schedule
}

func (c *cli) nextDue(ctx context.Context, f *cronFlags, args []string, count int, after string) error {
	from, err := parseBound("after", after, words.Zone{})
	if err != nil {
		return err
	}
	src, stream, err := f.find(ctx, c, args)
	if src != nil {
		defer src.Close()
	}
	if err != nil {
		return err
	}
	cronJob, unread := duetimes.Newest(ctx, src, stream, 0)
	if unread != nil && !(src.Beside(unread) && cronJob != nil && cronJob.Seen != nil) {
		return unread // else the schedule is the newest that can be read
	}
	begin := cronJob.DueAfter(time.Now())
	if after != "" {
		s, err := settleOf(ctx, src, from)
		if err != nil {
			return err
		}
		at := from.Point(s.now, s.end)
		if which.Beyond(at) {
			return usage("--after=%s lies outside the years that a log knows, 1930 to 2189", after)
		}
		begin = at.Go()
	}
	due, zone, err := cronJob.Next(begin, count)
	if err != nil {
		return fmt.Errorf("cronjob/%s: %w", cronJob.Ref.Name, err)
	}
	if note := explain.Idle(cronJob); note != "" {
		fmt.Fprintf(c.err, "note: %s\n", note)
	}
	items := []dueItem{}
	for _, t := range due {
		items = append(items, dueItem{t.UTC(), t.In(zone).Format(time.RFC3339)})
	}
	if f.output.document() {
		return errors.Join(unread, c.value(&f.output, struct {
			Namespace string    `json:"namespace"`
			Name      string    `json:"name"`
			Schedule  string    `json:"schedule"`
			Zone      string    `json:"zone"`
			Items     []dueItem `json:"items"`
		}{cronJob.Ref.Namespace, cronJob.Ref.Name, cronJob.Seen.Schedule, zone.String(), items}))
	}
	head := []string{"DUE (UTC)", "DUE (" + words.Clean(zone.String()) + ")"}
	if zone == time.UTC {
		head = head[:1]
	}
	table := show.Table{Out: c.out, Head: head, Width: c.width(), Colour: c.colour()}
	for _, t := range due {
		local := show.Cell{Text: t.In(zone).Format("Mon ") + show.DueText(t.In(zone)) + t.In(zone).Format(" -07:00")}
		table.Row([]show.Cell{{Text: instant(t)}, local}[:len(head)]...)
	}
	return errors.Join(unread, table.Flush())
}

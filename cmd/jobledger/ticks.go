package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/duetimes"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/show"
	"github.com/jobledger/jobledger/internal/words"
)

// cronFlags say which CronJob is read, and how it is shown.
type cronFlags struct {
	job    jobFlags // its namespace is that of the CronJob
	output outputFlag
}

func (f *cronFlags) add(cmd *cobra.Command, c *cli) {
	f.job.add(cmd, c, "namespace of the CronJob")
	f.output.addFormats(cmd, formatTable, formatJSON, formatYAML)
	cmd.Hidden = true // until CronJobs are run
}

// read reads the CronJob that is meant. The source is closed by the caller, unless it is nil.
func (f *cronFlags) read(ctx context.Context, c *cli, args []string) (history.Source, *duetimes.CronJob, error) {
	name, err := parseCronJob(args)
	if err != nil {
		return nil, nil, err
	}
	if err := f.output.validate(); err != nil {
		return nil, nil, err
	}
	src, _, err := f.job.source.open(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	namespace := orDefault(f.job.namespace)
	stream, ok, err := duetimes.Find(ctx, src, namespace, name)
	if err != nil {
		return src, nil, fmt.Errorf("find cronjob/%s: %w", name, err)
	}
	if !ok {
		return src, nil, fmt.Errorf("the log knows no cronjob/%s in namespace %q (-n names another)", name, namespace)
	}
	cronJob, err := duetimes.Read(ctx, src, stream)
	return src, cronJob, err
}

// instant is a due time for people, in UTC. Most are whole minutes.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02 " + clockOf(t)) }

func clockOf(t time.Time) string {
	if t.Second() != 0 {
		return "15:04:05"
	}
	return "15:04"
}

func newTicks(c *cli) *cobra.Command {
	var f cronFlags
	cmd := &cobra.Command{
		Use:   "ticks cronjob/NAME",
		Short: "Show what became of each due time of a CronJob",
		Long: `Show what became of each due time of a CronJob, in order: started (with the Job, and how late), merged
into a later one, too late, refused, lost, missed while no controller watched, or dropped. Due times
that had the same fate in a row are one line. The last line is the one that is open, with what holds it
back. Jobs that users made by hand, or asked for, have lines of their own.

Times are in UTC. The number is that of the record that says so: 'jobledger events --from N --limit 1'.`,
		Example: `  jobledger ticks cronjob/nightly --log DIR -n batch`,
		Args:    cobra.RangeArgs(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.ticks(cmd.Context(), &f, args) },
	}
	f.add(cmd, c)
	return cmd
}

// tickItem is a line of ticks, as a value.
type tickItem struct {
	First  time.Time       `json:"first"`
	Last   time.Time       `json:"last"`
	Count  int             `json:"count,omitempty"` // how many due times; left out where that cannot be counted
	Fate   string          `json:"fate"`
	Into   *time.Time      `json:"into,omitempty"`
	Late   string          `json:"late,omitempty"`
	Job    string          `json:"job,omitempty"`
	JobUID string          `json:"jobUID,omitempty"`
	By     string          `json:"by,omitempty"`
	Zone   string          `json:"zone,omitempty"` // hash of the rules
	Record events.Sequence `json:"record,omitempty"`
}

func itemOf(cronJob *duetimes.CronJob, e *duetimes.Entry) tickItem {
	item := tickItem{
		First: e.First.Go().UTC(), Last: e.Last.Go().UTC(), Fate: words.FateText(e.Fate), Job: e.Name, JobUID: string(e.Job), By: e.By, Zone: e.Zone,
		Record: e.Record,
	}
	if n, ok := cronJob.Count(e); ok {
		item.Count = n
	}
	if e.Into != 0 {
		into := e.Into.Go().UTC()
		item.Into = &into
	}
	if e.Late != 0 {
		item.Late = e.Late.Round(time.Millisecond).String()
	}
	return item
}

func (c *cli) ticks(ctx context.Context, f *cronFlags, args []string) error {
	src, cronJob, err := f.read(ctx, c, args)
	if src != nil {
		defer src.Close()
	}
	if err != nil {
		return err
	}
	items := []tickItem{}
	for i := range cronJob.Entries {
		items = append(items, itemOf(cronJob, &cronJob.Entries[i]))
	}
	if l := cronJob.Ledger; l != nil && l.Open != 0 && !l.Closed {
		open := l.Open.Go().UTC()
		items = append(items, tickItem{First: open, Last: open, Count: 1, Fate: words.HoldText(l.Hold)})
	}
	if f.output.document() {
		return c.value(&f.output, struct {
			Namespace string     `json:"namespace"`
			Name      string     `json:"name"`
			UID       string     `json:"uid"`
			Items     []tickItem `json:"items"`
		}{cronJob.Ref.Namespace, cronJob.Ref.Name, string(cronJob.Ref.UID), items})
	}
	table := show.Table{Out: c.out, Head: []string{"DUE (UTC)", "TIMES", "RECORD", "JOB", "FATE"}, Width: c.width(), Whole: c.piped(), Colour: c.colour()}
	for i := range items {
		table.Row(cellsOf(&items[i])...)
	}
	return table.Flush()
}

func cellsOf(item *tickItem) []show.Cell {
	due, times, record := instant(item.First), "?", ""
	if !item.Last.Equal(item.First) {
		due += " to "
		if item.Last.Year() != item.First.Year() {
			due += item.Last.Format("2006-")
		}
		due += item.Last.Format("01-02 " + clockOf(item.Last))
	}
	if item.Count > 0 {
		times = fmt.Sprint(item.Count)
	}
	if item.Record != 0 {
		record = fmt.Sprint(uint64(item.Record))
	}
	return []show.Cell{{Text: due}, {Text: times}, {Text: record}, {Text: words.Clean(item.Job), Name: true}, {Text: words.Clean(fateOf(item))}}
}

// fateOf is what became of it, in one line.
func fateOf(item *tickItem) string {
	text := item.Fate
	if item.Into != nil {
		text = "merged into " + instant(*item.Into)
	}
	if item.Late != "" {
		text += ", " + item.Late + " late"
	}
	if item.By != "" {
		text += ", by " + item.By
	}
	return text
}

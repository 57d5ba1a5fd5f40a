package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// cronsList is the list of CronJobs that get prints; it implements list.
type cronsList struct{ *getFlags }

func (f *getFlags) listCronJobs() list { return cronsList{f} }

func (f cronsList) read() error {
	switch {
	case f.changed("selector"):
		return cli.Usage("-l: the log has no labels of CronJobs; 'get jobs -l' asks for those of Jobs")
	case f.changed("why"):
		return cli.Usage("--why is for Jobs: 'jobledger explain cronjob/NAME' says how a CronJob is")
	}
	if err := f.checkList("CronJobs"); err != nil {
		return err
	}
	if err := checkCronSort(f.sortBy); err != nil {
		return err
	}
	var failed error
	// If the lists of Jobs and of CronJobs both have a flag, only the one of Jobs was parsed, so copy its value.
	f.jobs.Flags.VisitAll(func(p *pflag.Flag) {
		if own := f.crons.Flags.Lookup(p.Name); p.Changed && own != nil {
			failed = errors.Join(failed, copyValue(f.crons.Flags, p))
		}
	})
	if failed != nil {
		return failed
	}
	return cli.ReadQuestion(&f.AskFlags, f.crons, nil)
}

// copyValue gives the flag of the same name in to the value of from.
func copyValue(to *pflag.FlagSet, from *pflag.Flag) error {
	texts := []string{from.Value.String()}
	if several, is := from.Value.(pflag.SliceValue); is {
		texts = several.GetSlice()
	}
	for _, text := range texts {
		if err := to.Set(from.Name, text); err != nil {
			return err
		}
	}
	return nil
}

// show prints the chosen CronJobs and, with -w, each CronJob again when it changes.
func (f cronsList) show(ctx context.Context, c *cli.CLI, src history.Source) error {
	head, err := watch.EndOf(ctx, src, f.watch)
	if err != nil {
		return err
	}
	page, all, unread := f.all(ctx, c, src)
	if page == nil {
		return unread
	}
	notePassed(c, page.PassedOver, &f.Output)
	if all == 0 && !f.Output.Document() {
		tellNoCronJobs(c, f.getFlags)
		if !f.watch {
			return unread
		}
	}
	out := &cronsOut{c: c, f: f.getFlags, Shown: watch.Shown[history.CronSummary]{Said: func(j history.CronSummary) (string, uint64, any) {
		j.Last = 0
		return j.UID, 0, &j
	}}}
	if err := out.page(*page); err != nil {
		return err
	}
	switch {
	case len(page.Items) < all:
		fmt.Fprintf(c.Err, "note: these are the last %d of %d, in the order of %s; --limit 0 shows all\n", len(page.Items), all, words.Clean(f.sortBy))
	case page.Continue != "" && f.watch:
		fmt.Fprintf(c.Err, "note: these are the newest %d; there are more: --limit 0 shows all\n", all)
	case page.Continue != "" && !f.Output.Document():
		fmt.Fprintf(c.Err, "note: there are more: --continue %s goes on, --limit 0 shows all\n", page.Continue)
	}
	if !f.watch || unread != nil {
		return unread
	}
	return watch.UnlessInterrupted(ctx, out.follow(ctx, src, ask.WantedCronJobs(f.crons), head+1))
}

// all returns the CronJobs to print as one page, and how many there are in total. If the list is sorted and there are
// more than the limit, the page has the last ones.
func (f cronsList) all(ctx context.Context, c *cli.CLI, src history.Source) (whole *history.CronJobsPage, all int, unread error) {
	most := f.limit.Most
	if f.sortBy != "" {
		most = 0
	}
	ofCrons := func(p *history.CronJobsPage) (int, string) { return len(p.Items), p.Continue }
	for page, err := range pagesOf(ctx, c, src, f.crons, most, ofCrons) {
		switch {
		case err != nil && !(src.Beside(err) && (page != nil || whole != nil)):
			return nil, 0, err
		case err != nil:
			unread = err
		}
		switch {
		case page == nil:
		case whole == nil:
			whole = page
		default:
			whole.Items, whole.Continue = append(whole.Items, page.Items...), page.Continue
		}
	}
	all = len(whole.Items)
	if f.sortBy == "" {
		return whole, all, unread
	}
	if err := sortBy(whole.Items, sortPath(f.sortBy)); err != nil {
		return nil, 0, err
	}
	if f.limit.Most > 0 && all > f.limit.Most {
		whole.Items = whole.Items[all-f.limit.Most:]
	}
	return whole, all, unread
}

func tellNoCronJobs(c *cli.CLI, f *getFlags) {
	if f.Job.Namespace != "" {
		fmt.Fprintf(c.Err, "No CronJobs found in namespace %q (-A looks in all).\n", words.Clean(f.Job.Namespace))
		return
	}
	fmt.Fprintln(c.Err, "No CronJobs found. With --cronjobs=false, or without the right to list them, a controller records none.")
}

// cronsOut prints CronJobs in the output format of -o.
type cronsOut struct {
	c     *cli.CLI
	f     *getFlags
	table *show.CronJobsTable
	watch.Shown[history.CronSummary]
}

// page prints a page of CronJobs as one document. With -w each CronJob is a document, because more will follow.
func (o *cronsOut) page(page history.CronJobsPage) error {
	if o.f.Output.Document() && !o.f.watch {
		return o.c.Value(&o.f.Output, &page)
	}
	for i := range page.Items {
		if _, err := o.Changed(page.Items[i]); err != nil {
			return err
		}
		if err := o.one(&page.Items[i]); err != nil {
			return err
		}
	}
	return o.flush()
}

// one prints a CronJob. In a table, its row appears only after flush.
func (o *cronsOut) one(j *history.CronSummary) error {
	output := &o.f.Output
	switch {
	case output.Format == cli.FormatName:
		_, err := fmt.Fprintln(o.c.Out, cronNameOf(words.Clean(j.Name)))
		return err
	case output.Document():
		if output.Format == cli.FormatYAML {
			fmt.Fprintln(o.c.Out, "---")
		}
		if err := o.c.Value(output, j); err != nil {
			return err
		}
		if output.Format == cli.FormatPath {
			fmt.Fprintln(o.c.Out)
		}
		return nil
	}
	if o.table == nil {
		page := o.c.Page(output)
		page.Namespace = o.f.Job.Namespace
		o.table = page.CronJobs()
	}
	o.table.Row(j)
	return nil
}

func (o *cronsOut) flush() error {
	if o.table == nil {
		return nil
	}
	return o.table.Flush()
}

// follow prints each CronJob that changes, if wanted selects it after the change. from is the first record that counts.
func (o *cronsOut) follow(ctx context.Context, src history.Source, wanted history.CronJobsQuery, from events.Sequence) error {
	live := history.LiveCronJobs(src)
	one := func(s events.Stream, last *events.Record) (history.CronSummary, bool, error) {
		j, ok := live.CronSummary(s)
		if !ok {
			return j, false, nil
		}
		settled := []history.CronSummary{j}
		err := history.Settle(ctx, src, settled, last.Time)
		return settled[0], wanted.Wants(&settled[0]), err
	}
	return o.Follow(ctx, src, live, from, one, func(j history.CronSummary) error {
		return errors.Join(o.one(&j), o.flush())
	})
}

// cronSortNames returns the values for --sort-by that the shell offers.
func cronSortNames() []string {
	return []string{"name", "namespace", "state", "created", "next", "lastScheduleTime", "lastSuccessfulTime", "active"}
}

// checkCronSort returns a usage error if text names a field that CronJobs do not have.
func checkCronSort(text string) error {
	if text == "" {
		return nil
	}
	one, zone := recordjson.Instant(1), "z"
	full, err := cli.Fields(history.CronSummary{
		Reason: "r", Gone: true, Schedule: "s", TimeZone: &zone, Suspend: true, Created: one, LastSchedule: one, LastSuccess: one, Next: one,
		LastDue: &history.Tick{}, LastRun: "r", Due: &history.OpenDue{}, First: 1, DueThrough: one, DueAfter: one, Hold: "h", Deadline: new(int64(1)), ZoneHash: "h",
	})
	if err != nil {
		return err
	}
	if _, err := cli.FieldOf(full, sortPath(text), false); err != nil {
		return cli.Usage("--sort-by %s: the JSON of a list has no such field: such as %s", text, strings.Join(cronSortNames(), ", "))
	}
	return nil
}

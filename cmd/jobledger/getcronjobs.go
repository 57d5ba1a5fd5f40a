package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// cronQuery says which CronJobs are wanted, but for the time of their records.
func (f *getFlags) cronQuery() (q history.CronJobsQuery, err error) {
	q = history.CronJobsQuery{Namespace: f.job.namespace, Limit: f.list.limit.Most, Continue: f.list.after}
	switch {
	case f.list.selector.Given():
		return q, usage("-l: the log has no labels of CronJobs; 'get jobs -l' asks for those of Jobs")
	case f.list.why:
		return q, usage("--why is for Jobs: 'jobledger explain cronjob/NAME' says how a CronJob is")
	case f.list.after != "" && f.list.sortBy != "":
		return q, usage("--continue goes on with the newest first, and --sort-by has another order: leave one out")
	case f.list.after != "" && f.watch:
		return q, usage("-w begins with the newest CronJobs, and --continue goes on behind them: leave one out")
	}
	if err := f.list.limit.Read(); err != nil {
		return q, err
	}
	if err := f.list.span.Read(f.output.zone()); err != nil {
		return q, err
	}
	if err := checkCronSort(f.list.sortBy); err != nil {
		return q, err
	}
	for _, name := range f.list.states {
		i := slices.IndexFunc(history.CronStates, func(s history.CronState) bool { return strings.EqualFold(string(s), name) })
		if i < 0 {
			return q, usage("--state %s: CronJobs have no such state; there are %s", name, strings.Join(cronStateNames(), ", "))
		}
		q.States = append(q.States, history.CronStates[i])
	}
	return q, nil
}

func cronStateNames() (names []string) {
	for _, s := range history.CronStates {
		names = append(names, string(s))
	}
	return names
}

// getCronJobs shows the CronJobs that are wanted, and what they become if that is wanted too. The namespaces that are over their budgets of
// log are in what programs read.
func (c *cli) getCronJobs(ctx context.Context, src history.Source, f *getFlags, wanted history.CronJobsQuery, over []history.Passed) (err error) {
	if wanted.Since, _, err = f.list.span.In(ctx, c.here(src)); err != nil {
		return err
	}
	head, err := endOf(ctx, src, f.watch)
	if err != nil {
		return err
	}
	limit := wanted.Limit
	if f.list.sortBy != "" {
		wanted.Limit = 0
	}
	page, unread := src.CronJobs(ctx, wanted)
	if errors.Is(unread, history.ErrQuery) {
		return &usageError{fmt.Sprintf("--continue: %v", unread)}
	}
	if unread != nil && (!src.Beside(unread) || len(page.Items) == 0) {
		return unread
	}
	page.PassedOver = over
	all := len(page.Items)
	if f.list.sortBy != "" {
		if err := sortBy(page.Items, sortPath(f.list.sortBy)); err != nil {
			return err
		}
		if limit > 0 && all > limit {
			page.Items = page.Items[all-limit:]
		}
	}
	if all == 0 && !f.output.document() {
		c.noCronJobs(f)
		if !f.watch {
			return unread
		}
	}
	out := &cronsOut{c: c, f: f}
	if err := out.page(page); err != nil {
		return err
	}
	switch {
	case len(page.Items) < all:
		fmt.Fprintf(c.err, "note: these are the last %d of %d, in the order of %s; --limit 0 shows all\n", len(page.Items), all, words.Clean(f.list.sortBy))
	case page.Continue != "" && f.watch:
		fmt.Fprintf(c.err, "note: these are the newest %d; there are more: --limit 0 shows all\n", all)
	case page.Continue != "" && !f.output.document():
		fmt.Fprintf(c.err, "note: there are more: --continue %s goes on, --limit 0 shows all\n", page.Continue)
	}
	if !f.watch || unread != nil {
		return unread
	}
	return unlessInterrupted(ctx, out.follow(ctx, src, wanted, head+1))
}

func (c *cli) noCronJobs(f *getFlags) {
	if f.job.namespace != "" {
		fmt.Fprintf(c.err, "No CronJobs found in namespace %q (-A looks in all).\n", words.Clean(f.job.namespace))
		return
	}
	fmt.Fprintln(c.err, "No CronJobs found. With --cronjobs=false, or without the right to list them, a controller records none.")
}

// cronsOut writes CronJobs in one format.
type cronsOut struct {
	c     *cli
	f     *getFlags
	table *show.CronJobsTable
	shown map[string]string // what was said last of each, by UID
}

// page writes a page: as one document, unless it goes on.
func (o *cronsOut) page(page history.CronJobsPage) error {
	if o.f.output.document() && !o.f.watch {
		return o.c.value(&o.f.output, &page)
	}
	for i := range page.Items {
		if _, err := o.changed(&page.Items[i]); err != nil {
			return err
		}
		if err := o.one(&page.Items[i]); err != nil {
			return err
		}
	}
	return o.flush()
}

// one writes one CronJob; a row is written by flush.
func (o *cronsOut) one(j *history.CronSummary) error {
	output := &o.f.output
	switch {
	case output.format == formatName:
		_, err := fmt.Fprintln(o.c.out, cronNameOf(words.Clean(j.Name)))
		return err
	case output.document():
		if output.format == formatYAML {
			fmt.Fprintln(o.c.out, "---")
		}
		if err := o.c.value(output, j); err != nil {
			return err
		}
		if output.format == formatPath {
			fmt.Fprintln(o.c.out)
		}
		return nil
	}
	if o.table == nil {
		page := o.c.page(output)
		page.Namespace = o.f.job.namespace
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

// changed reports whether a CronJob is another than it was shown last, and takes it for shown.
func (o *cronsOut) changed(j *history.CronSummary) (bool, error) {
	bare := *j
	bare.Last = 0
	text, err := show.Indented(&bare)
	if err != nil {
		return false, err
	}
	if o.shown == nil {
		o.shown = map[string]string{}
	}
	before := o.shown[j.UID]
	o.shown[j.UID] = string(text)
	return before != string(text), nil
}

// follow shows each CronJob that a batch of records changed, from a record on, if it is one of those that are wanted then.
func (o *cronsOut) follow(ctx context.Context, src history.Source, wanted history.CronJobsQuery, from events.Sequence) error {
	watch := history.LiveCronJobs(src)
	for end, err := range changes(ctx, src, watch, from) {
		if err != nil {
			return err
		}
		for _, s := range end.changed {
			j, ok := watch.CronSummary(s)
			if !ok {
				continue
			}
			one := []history.CronSummary{j}
			if err := history.Settle(ctx, src, one, end.last.Time); err != nil {
				return err
			}
			if !wanted.Wants(&one[0]) {
				continue
			}
			changed, err := o.changed(&one[0])
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
			if err := errors.Join(o.one(&one[0]), o.flush()); err != nil {
				return err
			}
		}
	}
	return nil
}

// cronSortNames are offered to the shell.
func cronSortNames() []string {
	return []string{"name", "namespace", "state", "created", "next", "lastScheduleTime", "lastSuccessfulTime", "active"}
}

// checkCronSort refuses a field that no CronJob has.
func checkCronSort(text string) error {
	if text == "" {
		return nil
	}
	one, zone := recordjson.Instant(1), "z"
	full, err := fields(history.CronSummary{
		Reason: "r", Gone: true, Schedule: "s", TimeZone: &zone, Suspend: true, Created: one, LastSchedule: one, LastSuccess: one, Next: one,
		LastDue: &history.Tick{}, LastRun: "r", Due: &history.OpenDue{}, First: 1, DueThrough: one, DueAfter: one, Hold: "h", Deadline: new(int64(1)), ZoneHash: "h",
	})
	if err != nil {
		return err
	}
	if _, err := fieldOf(full, sortPath(text), false); err != nil {
		return usage("--sort-by %s: the JSON of a list has no such field: such as %s", text, strings.Join(cronSortNames(), ", "))
	}
	return nil
}

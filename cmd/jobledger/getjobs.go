package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// usualJobs are on a page unless another number is asked for, as kubectl asks a server for them. When all are wanted, pages of manyJobs
// are asked for.
const (
	usualJobs = 500
	manyJobs  = 5000
)

func (l *listFlags) given() bool {
	return len(l.states) > 0 || l.selector.Given() || l.span.Since() || l.limit.Most != usualJobs || l.after != "" || l.sortBy != ""
}

// query says which Jobs are wanted, but for the time of their records.
func (f *getFlags) query() (q history.JobsQuery, err error) {
	q = history.JobsQuery{Namespace: f.job.namespace, Limit: f.list.limit.Most, Continue: f.list.after}
	switch {
	case f.list.after != "" && f.list.sortBy != "":
		return q, usage("--continue goes on with the newest first, and --sort-by has another order: leave one out")
	case f.list.after != "" && f.watch:
		return q, usage("-w begins with the newest Jobs, and --continue goes on behind them: leave one out")
	}
	if err := f.list.limit.Read(); err != nil {
		return q, err
	}
	if err := f.list.span.Read(f.output.zone()); err != nil {
		return q, err
	}
	if err := checkSort(f.list.sortBy); err != nil {
		return q, err
	}
	if q.Labels, err = f.list.selector.Read(); err != nil {
		return q, err
	}
	for _, name := range f.list.states {
		i := slices.IndexFunc(history.States, func(s history.State) bool { return strings.EqualFold(string(s), name) })
		if i < 0 {
			return q, usage("--state %s: there is no such state; there are %s", name, strings.Join(stateNames(), ", "))
		}
		q.States = append(q.States, history.States[i])
	}
	return q, nil
}

func stateNames() (names []string) {
	for _, s := range history.States {
		names = append(names, string(s))
	}
	return names
}

// getJobs shows the Jobs that are wanted, and what they become if that is wanted too.
func (c *cli) getJobs(ctx context.Context, src history.Source, f *getFlags, wanted history.JobsQuery, now []history.Passed) (err error) {
	if wanted.Since, _, err = f.list.span.In(ctx, c.here(src)); err != nil {
		return err
	}
	if err := c.here(src).NoteLabels(ctx, wanted.Labels); err != nil {
		return err
	}
	head, err := endOf(ctx, src, f.watch)
	if err != nil {
		return err
	}
	out := c.jobsOut(f)
	if d, is := out.(*jobsDocument); is {
		d.passed = now
	}
	if f.list.why && f.output.format != formatName {
		out = newJobsWhy(ctx, src, f, out)
	}
	seen := &jobsSeen{jobsOut: out, people: !f.output.document()}
	list := c.listJobs
	if f.list.sortBy != "" {
		list = c.sortJobs
	}
	if !f.watch {
		return list(ctx, src, f, out, wanted)
	}
	if err := list(ctx, src, f, seen, wanted); err != nil {
		return err
	}
	return unlessInterrupted(ctx, watchJobs(ctx, src, seen, wanted, head+1))
}

// listJobs shows the Jobs that are wanted, as they come: a page, or page after page when all are.
func (c *cli) listJobs(ctx context.Context, src history.Source, f *getFlags, out jobsOut, wanted history.JobsQuery) error {
	all := wanted.Limit == 0
	if all {
		wanted.Limit = manyJobs
	}
	var unread error
	for shown := 0; ; {
		page, err := src.Jobs(ctx, wanted)
		if errors.Is(err, history.ErrQuery) {
			return &usageError{fmt.Sprintf("--continue: %v", err)}
		}
		if src.Beside(err) {
			unread = err // they are those of what can be read
		} else if err != nil {
			return err
		}
		if shown += len(page.Items); shown == 0 && unread != nil && (!all || page.Continue == "") {
			return unread // no answer, which is not the same as no Job
		}
		if shown == 0 && !f.output.document() {
			c.noJobs(f.job.namespace)
			return nil
		}
		if err := out.add(page.Items); err != nil {
			return err
		}
		if !all || page.Continue == "" {
			return errors.Join(c.endJobs(f, out, page, shown), unread)
		}
		wanted.Continue = page.Continue
	}
}

func (c *cli) noJobs(namespace string) {
	if namespace != "" {
		fmt.Fprintf(c.err, "No Jobs found in namespace %q (-A looks in all).\n", words.Clean(namespace))
		return
	}
	fmt.Fprintln(c.err, "No Jobs found.")
}

// endJobs ends the list, and says how to go on when there is more.
func (c *cli) endJobs(f *getFlags, out jobsOut, page history.JobsPage, shown int) error {
	if err := out.end(page); err != nil {
		return err
	}
	next := page.Continue
	switch {
	case next != "" && f.watch:
		fmt.Fprintf(c.err, "note: these are the newest %d; there are more: --limit 0 shows all\n", shown)
	case next != "":
		fmt.Fprintf(c.err, "note: these are the newest %d; there are more: --continue %s shows the next, --limit 0 all\n", shown, words.Clean(next))
	}
	return nil
}

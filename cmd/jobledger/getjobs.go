package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/internal/say/words"
)

// list is a list of objects of one kind that get prints. read checks the flags, before a log is opened; show prints the
// list.
type list interface {
	read() error
	show(ctx context.Context, c *cli.CLI, src history.Source) error
}

// pagesOf yields pages of a list until it has most objects, or all of them if most is 0. of returns how many objects a
// page has, and where the next one begins. Notes are printed with the first page only. A page may come together with an
// error; an error without a page is the end.
func pagesOf[A any](
	ctx context.Context, c *cli.CLI, src history.Source, q *ask.Asked[A], most int, of func(*A) (n int, more string),
) iter.Seq2[*A, error] {
	return func(yield func(*A, error) bool) {
		hears := serve.Hears{Note: c.Note, Behind: c.Note, Read: c.HasRead}
		for left, more := most, ""; ; {
			size := ask.MaxPage
			if most > 0 {
				size = min(left, ask.MaxPage)
			}
			err := q.Flags.Set("limit", strconv.Itoa(size))
			if more != "" && err == nil {
				err = q.Flags.Set("continue", more)
			}
			if err == nil {
				err = q.Read(nil)
			}
			var page *A
			if err == nil {
				page, err = cli.Put(ctx, c, src, q, hears)
			}
			if !yield(page, err) || page == nil {
				return
			}
			var n int
			if n, more = of(page); more == "" || most > 0 && left <= n {
				return
			}
			left -= n
			hears.Note, hears.Behind = func(string) {}, func(string) {}
		}
	}
}

// jobsList is the list of Jobs that get prints; it implements list.
type jobsList struct{ *getFlags }

func (f *getFlags) listJobs() list { return jobsList{f} }

func (f jobsList) read() error {
	if err := f.checkList("Jobs"); err != nil {
		return err
	}
	if err := checkSort(f.sortBy); err != nil {
		return err
	}
	return cli.ReadQuestion(&f.AskFlags, f.jobs, nil)
}

// show prints the chosen Jobs and, with -w, each Job again when it changes.
func (f jobsList) show(ctx context.Context, c *cli.CLI, src history.Source) error {
	head, err := watch.EndOf(ctx, src, f.watch)
	if err != nil {
		return err
	}
	out := newJobsOut(c, f.getFlags)
	if f.why() && (f.watch || f.sortBy != "" || f.Output.Format == cli.FormatName) {
		// With -w, --sort-by or -o name, the pages are requested without the reasons (--why). This command finds them
		// itself: with -w at each change, and in a sorted list only for the Jobs that are printed. -o name needs none.
		if f.Output.Format != cli.FormatName {
			out = newJobsWhy(ctx, src, f.getFlags, out)
		}
		if err := f.jobs.Flags.Set("why", "false"); err != nil {
			return err
		}
	}
	seen := newJobsSeen(out, !f.Output.Document())
	list := writeJobs
	if f.sortBy != "" {
		list = writeSorted
	}
	if !f.watch {
		return list(ctx, c, src, f.getFlags, out)
	}
	if err := list(ctx, c, src, f.getFlags, seen); err != nil {
		return err
	}
	wanted, live := ask.WantedJobs(f.jobs), history.LiveJobs(src)
	one := func(s events.Stream, _ *events.Record) (j history.Summary, ok bool, err error) {
		j, ok = live.Summary(s)
		return j, ok && wanted.Wants(&j), nil
	}
	return watch.UnlessInterrupted(ctx, seen.Follow(ctx, src, live, head+1, one, func(j history.Summary) error {
		if err := out.add([]history.Summary{j}); err != nil {
			return err
		}
		return out.end(history.JobsPage{})
	}))
}

// why reports whether --why was given.
func (f *getFlags) why() bool {
	why, err := f.jobs.Flags.GetBool("why")
	return why && err == nil
}

// ofJobsPage returns how many Jobs are on a page, and where the next page begins (see pagesOf).
func ofJobsPage(p *history.JobsPage) (n int, more string) { return len(p.Items), p.Continue }

// writeJobs prints the chosen Jobs, page by page.
func writeJobs(ctx context.Context, c *cli.CLI, src history.Source, f *getFlags, out jobsOut) error {
	var unread error
	var last history.JobsPage
	shown := 0
	for page, err := range pagesOf(ctx, c, src, f.jobs, f.limit.Most, ofJobsPage) {
		switch {
		case err != nil && !(src.Beside(err) && (page != nil || shown > 0)):
			return err
		case err != nil:
			unread = err
		}
		if page == nil {
			page = &history.JobsPage{PrunedBefore: last.PrunedBefore, PassedOver: last.PassedOver}
		}
		if shown == 0 {
			notePassed(c, page.PassedOver, &f.Output)
		}
		if shown += len(page.Items); shown == 0 && page.Continue == "" && !f.Output.Document() {
			tellNoJobs(c, f.Job.Namespace)
			return nil
		}
		if err := out.add(page.Items); err != nil {
			return err
		}
		last = *page
	}
	return errors.Join(endJobs(c, f, out, last, shown), unread)
}

func tellNoJobs(c *cli.CLI, namespace string) {
	if namespace != "" {
		fmt.Fprintf(c.Err, "No Jobs found in namespace %q (-A looks in all).\n", words.Clean(namespace))
		return
	}
	fmt.Fprintln(c.Err, "No Jobs found.")
}

// endJobs prints what follows the Jobs of a list. If there are more Jobs, it prints a note about how to get them.
func endJobs(c *cli.CLI, f *getFlags, out jobsOut, page history.JobsPage, shown int) error {
	if err := out.end(page); err != nil {
		return err
	}
	next := page.Continue
	switch {
	case next != "" && f.watch:
		fmt.Fprintf(c.Err, "note: these are the newest %d; there are more: --limit 0 shows all\n", shown)
	case next != "":
		fmt.Fprintf(c.Err, "note: these are the newest %d; there are more: --continue %s shows the next, --limit 0 all\n", shown, words.Clean(next))
	}
	return nil
}

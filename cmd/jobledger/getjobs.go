package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/show"
	"github.com/jobledger/jobledger/internal/words"
	"github.com/jobledger/jobledger/store"
)

// usualJobs are on a page unless another number is asked for, as kubectl asks a server for them. With --limit 0 pages of manyJobs are
// asked for.
const (
	usualJobs = 500
	manyJobs  = 5000
)

func (l *listFlags) given() bool {
	return len(l.states) > 0 || l.since != "" || l.limit != usualJobs || l.after != ""
}

// query says which Jobs are wanted.
func (f *getFlags) query() (q history.JobsQuery, err error) {
	q = history.JobsQuery{Namespace: f.namespace, Limit: f.list.limit, Continue: f.list.after}
	if f.list.limit < 0 {
		return q, usage("--limit %d: must be 0 or more", f.list.limit)
	}
	if q.Since, err = parseBound("since", f.list.since, time.Now()); err != nil {
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

// getJobs shows the Jobs that are wanted, as they come: a page, or page after page when all are.
func (c *cli) getJobs(ctx context.Context, src history.Source, f *getFlags, wanted history.JobsQuery) error {
	out := c.jobsOut(f)
	all := wanted.Limit == 0
	if all {
		wanted.Limit = manyJobs
	}
	for shown := 0; ; {
		page, err := src.Jobs(ctx, wanted)
		if errors.Is(err, history.ErrQuery) {
			return &usageError{fmt.Sprintf("--continue: %v", err)}
		}
		if err != nil && (!errors.Is(err, store.ErrCorrupt) || len(page.Items) == 0 && shown == 0) {
			return err
		}
		if shown += len(page.Items); shown == 0 && f.output.format != formatJSON && f.output.format != formatYAML {
			c.noJobs(f)
			return err
		}
		if err := out.add(page.Items); err != nil {
			return err
		}
		if !all || page.Continue == "" || err != nil {
			return errors.Join(c.endJobs(f, out, page.Continue, shown), err) // with an error, they are those of what can be read
		}
		wanted.Continue = page.Continue
	}
}

func (c *cli) noJobs(f *getFlags) {
	if f.namespace != "" {
		fmt.Fprintf(c.err, "No Jobs found in namespace %q (-A looks in all).\n", words.Clean(f.namespace))
		return
	}
	fmt.Fprintln(c.err, "No Jobs found.")
}

// endJobs ends the list, and says how to go on when there is more.
func (c *cli) endJobs(f *getFlags, out jobsOut, next string, shown int) error {
	if err := out.end(next); err != nil {
		return err
	}
	if next != "" {
		fmt.Fprintf(c.err, "note: these are the newest %d; there are more: --continue %s shows the next, --limit 0 all\n", shown, words.Clean(next))
	}
	return nil
}

// jobsOut writes a list of Jobs in one format, part by part.
type jobsOut interface {
	add(jobs []history.Summary) error
	end(next string) error
}

func (c *cli) jobsOut(f *getFlags) jobsOut {
	switch f.output.format {
	case formatJSON, formatYAML:
		return &jobsDocument{c: c, format: f.output.format}
	}
	return &jobsTable{c.page(&f.output).Jobs()}
}

// jobsTable is for people.
type jobsTable struct{ table *show.JobsTable }

func (t *jobsTable) add(jobs []history.Summary) error {
	for i := range jobs {
		t.table.Row(&jobs[i])
	}
	return nil
}

func (t *jobsTable) end(string) error { return t.table.Flush() }

// jobsDocument is one JSON object, or the same as YAML. JSON is written as it comes, in the shape of serve.JobsPage.
type jobsDocument struct {
	c      *cli
	format string
	jobs   []history.Summary // of YAML
	begun  bool
}

func (d *jobsDocument) add(jobs []history.Summary) error {
	if d.format == formatYAML {
		d.jobs = append(d.jobs, jobs...)
		return nil
	}
	for i := range jobs {
		text, err := show.Indented(&jobs[i])
		if err != nil {
			return err
		}
		before := ",\n    "
		if !d.begun {
			d.begun, before = true, "{\n  \"items\": [\n    "
		}
		if _, err := fmt.Fprint(d.c.out, before, strings.ReplaceAll(string(text), "\n", "\n    ")); err != nil {
			return err
		}
	}
	return nil
}

func (d *jobsDocument) end(next string) error {
	page := history.JobsPage{Items: d.jobs, Continue: next}
	if page.Items == nil {
		page.Items = []history.Summary{}
	}
	if d.format == formatYAML || !d.begun {
		text, err := show.Indented(&page)
		if err != nil {
			return err
		}
		return d.c.document(d.format, text)
	}
	text := "\n  ]\n}\n"
	if next != "" {
		quoted, err := show.Indented(next)
		if err != nil {
			return err
		}
		text = "\n  ],\n  \"continue\": " + string(quoted) + "\n}\n"
	}
	_, err := fmt.Fprint(d.c.out, text)
	return err
}

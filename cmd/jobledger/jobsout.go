package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/verdicts"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// jobsOut prints a list of Jobs in one format. add prints Jobs, and end prints what follows them.
type jobsOut interface {
	add(jobs []history.Summary) error
	end(page history.JobsPage) error // prints what a page has in addition to its Jobs
}

func newJobsOut(c *cli.CLI, f *getFlags) jobsOut {
	switch {
	case f.Output.Format == cli.FormatName:
		return &jobsNames{c}
	case f.watch && f.Output.Document():
		return &jobsOneByOne{c: c, output: &f.Output}
	case f.Output.Document():
		return &jobsDocument{c: c, output: &f.Output}
	}
	page := c.Page(&f.Output)
	page.Namespace = f.Job.Namespace
	if f.why() {
		return &jobsTable{c, page.JobsWhy()}
	}
	t := &jobsTable{c, page.Jobs()}
	if f.watch {
		t.table.Least = []int{12, 24, 18} // wide enough that rows that are printed one by one are aligned
	}
	return t
}

// jobsTable prints Jobs as a table.
type jobsTable struct {
	c     *cli.CLI
	table *show.JobsTable
}

func (t *jobsTable) add(jobs []history.Summary) error {
	for i := range jobs {
		t.table.Row(&jobs[i])
	}
	return nil
}

func (t *jobsTable) end(history.JobsPage) error {
	err := t.table.Flush()
	if left := t.table.LeftOut(); left != "" {
		fmt.Fprintf(t.c.Err, "note: %s\n", left)
	}
	return err
}

// jobsNames prints the names of Jobs, one on each line.
type jobsNames struct{ c *cli.CLI }

func (n *jobsNames) add(jobs []history.Summary) error {
	for i := range jobs {
		if _, err := fmt.Fprintln(n.c.Out, nameOf(words.Clean(jobs[i].Name))); err != nil {
			return err
		}
	}
	return nil
}

func (*jobsNames) end(history.JobsPage) error { return nil }

// jobsOneByOne prints each Job as a document of its own, for -w.
type jobsOneByOne struct {
	c      *cli.CLI
	output *cli.OutputFlag
}

func (o *jobsOneByOne) add(jobs []history.Summary) error {
	for i := range jobs {
		if o.output.Format == cli.FormatYAML {
			fmt.Fprintln(o.c.Out, "---")
		}
		if err := o.c.Value(o.output, &jobs[i]); err != nil {
			return err
		}
		if o.output.Format == cli.FormatPath {
			fmt.Fprintln(o.c.Out)
		}
	}
	return nil
}

func (*jobsOneByOne) end(history.JobsPage) error { return nil }

// jobsDocument prints all Jobs as one document in the form of history.JobsPage: as JSON, as YAML, or by a template.
// JSON is printed Job by Job, while pages come.
type jobsDocument struct {
	c      *cli.CLI
	output *cli.OutputFlag
	jobs   []history.Summary // for all formats except JSON
	begun  bool
}

func (d *jobsDocument) add(jobs []history.Summary) error {
	if d.output.Format != cli.FormatJSON {
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
		if _, err := fmt.Fprint(d.c.Out, before, strings.ReplaceAll(string(text), "\n", "\n    ")); err != nil {
			return err
		}
	}
	return nil
}

func (d *jobsDocument) end(page history.JobsPage) error {
	page.Items = d.jobs
	if page.Items == nil {
		page.Items = []history.Summary{}
	}
	if !d.begun {
		return d.c.Value(d.output, &page)
	}
	text, err := show.Indented(&page)
	if err != nil {
		return err
	}
	text = recordjson.WithDamage(text, d.c.Met.Met())
	rest, ok := strings.CutPrefix(string(text), noItems)
	if !ok {
		return fmt.Errorf("a page begins with %.20q, and not with its Jobs", text)
	}
	_, err = fmt.Fprint(d.c.Out, "\n  ]", rest, "\n")
	return err
}

// noItems is the beginning of the JSON of a page without Jobs.
const noItems = "{\n  \"items\": []"

// jobsWhy adds to each Job of a list the reason for its state (--why), and then passes it on to be printed.
type jobsWhy struct {
	jobsOut
	ctx    context.Context
	src    history.Source
	lines  *verdicts.Lines
	live   bool
	unread error // why some records could not be read
}

func newJobsWhy(ctx context.Context, src history.Source, f *getFlags, out jobsOut) *jobsWhy {
	lines := verdicts.LinesOf
	if f.watch {
		lines = verdicts.LiveLines
	}
	w := &jobsWhy{jobsOut: out, ctx: ctx, src: src, lines: lines(src), live: f.watch}
	w.lines.Zone = f.Output.TextZone()
	return w
}

func (w *jobsWhy) add(jobs []history.Summary) error {
	for i := range jobs {
		var at history.Point
		if w.live {
			at.Sequence = events.Sequence(jobs[i].Last)
		}
		why, err := w.lines.Of(w.ctx, &jobs[i], at)
		switch {
		case w.src.Beside(err):
			w.unread = err
		case err != nil:
			return err
		}
		jobs[i].Why = why
	}
	return w.jobsOut.add(jobs)
}

func (w *jobsWhy) end(page history.JobsPage) error {
	err := errors.Join(w.jobsOut.end(page), w.unread)
	w.unread = nil
	return err
}

// jobsSeen remembers how each Job was last printed, so that -w prints only Jobs that have changed.
type jobsSeen struct {
	jobsOut
	watch.Shown[history.Summary]
}

// newJobsSeen returns a jobsSeen that passes changed Jobs to out. If people is true, it ignores changes of fields that
// a table does not show.
func newJobsSeen(out jobsOut, people bool) *jobsSeen {
	return &jobsSeen{out, watch.Shown[history.Summary]{Said: func(j history.Summary) (string, uint64, any) {
		last := j.Last
		j.Records, j.Last = 0, 0
		if people {
			j.Counts.Ready, j.Counts.Terminating, j.Counts.Creating = 0, 0, 0
		}
		return j.UID, last, &j
	}}}
}

func (s *jobsSeen) add(jobs []history.Summary) error {
	for i := range jobs {
		if _, err := s.Changed(jobs[i]); err != nil {
			return err
		}
	}
	return s.jobsOut.add(jobs)
}

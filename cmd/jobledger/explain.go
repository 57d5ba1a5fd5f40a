package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/store"
)

// formatMarkdown is an answer for a chat.
const formatMarkdown = "md"

// explainFlags choose what is explained, and how it is shown.
type explainFlags struct {
	caseFlags
	all   bool
	links []string // as they were given
}

func newExplain(c *cli) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [NAMESPACE/]NAME | explain job/NAME | explain pod/NAME | explain cronjob/NAME",
		Short: "Say why a Job ended as it did, what it waits for, or how a CronJob is",
		Long: `Say why a Job ended as it did, or what it waits for: the verdict first, then what decided it, the
first cause, what the failed tries had in common, who deleted a pod, where the time went, and what
was ruled out. Objects and Events may be deleted by now: the log is enough.

NAME alone is a Job, a CronJob or a pod, whichever the log knows. What is not in the namespace and in
one other is taken there, unless the namespace is given: with -n, or as NAMESPACE/NAME, which is how
answers begin. Of several Jobs of one name the one that goes on is explained, else the newest that
failed; the first line names all. job/UID takes another.

Of a CronJob it says whether it is healthy, what holds the next run back, since when and until when,
how its last runs ended, which due times did not start, and why.

Each sentence ends with the numbers of the records that it follows from. 'jobledger events --from N
--limit 1' shows one. Nothing is guessed: where the log cannot tell, the answer says "unknown", and
what is missing. Times in which the cluster was not watched are named.

--link adds addresses of the pods that failed. Its template knows {{.Namespace}}, {{.Job}}, {{.Pod}},
{{.UID}}, {{.Node}}, {{.Container}}, {{.From}}, {{.To}}, {{.FromMillis}} and {{.ToMillis}}.

An answer fits a screen; -v shows all of it. -o json writes one object (docs/postmortem.md has its
fields), -o md a text for a chat.`,
		Example: `  jobledger explain etl --log DIR
  jobledger explain prod/etl --log DIR
  jobledger explain job/etl --log DIR -n prod --at 2026-01-02T15:04:05Z    as it was then
  jobledger explain job/etl --log DIR -n prod -o md
  jobledger explain cronjob/etl --log DIR -n prod`,
		Args: oneJobArg,
		RunE: func(cmd *cobra.Command, args []string) error { return c.explain(cmd.Context(), &f, args) },
	}
	f.add(cmd, c, formatTable, formatMarkdown, formatJSON, formatYAML)
	cmd.ValidArgsFunction = c.completeObjects(&f.job, false)
	cmd.Flags().StringArrayVar(&f.links, "link", nil, "add addresses of the failed pods: 'Logs=https://logs.example/?pod={{.Pod}}&from={{.From}}'")
	cmd.Flags().BoolVarP(&f.all, "verbose", "v", false, "show all of the answer, however long it is")
	return cmd
}

func (c *cli) explain(ctx context.Context, f *explainFlags, args []string) error {
	var links []explain.Link
	for _, text := range f.links {
		link, err := explain.ParseLink(text)
		if err != nil {
			return usage("--link %q: %v", text, err)
		}
		links = append(links, link)
	}
	if h, _, _ := which.Parse(args); h.Kind == which.CronJob && len(links) > 0 {
		return usage("--link is for Jobs: a CronJob has no pods")
	}
	a, err := f.ask(ctx, c, args, false)
	if a.src != nil {
		defer a.src.Close()
	}
	switch {
	case err != nil:
		return err
	case a.handle.Kind == which.CronJob:
		return c.explainCron(ctx, f, &a)
	}
	found, err := c.caseOf(ctx, &f.caseFlags, &a)
	if found == nil {
		return err
	}
	if failed := found.Compare(ctx); failed != nil {
		err = errors.Join(err, failed)
	}
	answer := found.Answer()
	if a.handle.Kind == which.Pod {
		if answer, err = found.PodAnswer(a.handle.Name); err != nil {
			return err
		}
	}
	if failed := found.Link(&answer, links); failed != nil {
		err = errors.Join(err, failed)
	}
	return errors.Join(c.showAnswer(f, &answer), cmp.Or(err, found.Unread()))
}

// explainCron explains a CronJob.
func (c *cli) explainCron(ctx context.Context, f *explainFlags, a *question) error {
	if len(f.links) > 0 {
		return usage("--link is for Jobs: a CronJob has no pods")
	}
	streams, err := c.finder(a.src).CronJobs(ctx, a.place, a.handle.Name)
	if err != nil {
		return err
	}
	var found *explain.CronCase
	for _, s := range streams {
		found, err = explain.ReadCron(ctx, a.src, s, a.at)
		if found != nil {
			c.finder(a.src).NoteLives(ctx, s, found.State.Namespace, found.State.Name)
		}
		if !errors.Is(err, history.ErrNoCronJob) {
			break
		}
	}
	switch {
	case errors.Is(err, history.ErrNoCronJob):
		return c.nothingAt(ctx, a.src, a.handle, &f.at)
	case found == nil:
		return err
	}
	found.In(f.output.textZone())
	answer := found.Answer()
	return errors.Join(c.showAnswer(f, &answer), cmp.Or(err, found.Unread()))
}

// markDamage says in an answer that the log is damaged where what was read beside the object's own records is.
func (c *cli) markDamage(answer *explain.Answer) {
	for _, damage := range c.met.Met() {
		var bad *store.CorruptError
		if answer.Damaged == 0 && errors.As(damage, &bad) {
			answer.Damaged, answer.Resumed = uint64(max(bad.At, 1)), uint64(bad.Next)
		}
	}
}

func (c *cli) showAnswer(f *explainFlags, answer *explain.Answer) error {
	c.markDamage(answer)
	switch {
	case f.output.document():
		return c.value(&f.output, answer)
	case f.output.format == formatMarkdown:
		_, err := fmt.Fprint(c.out, show.Markdown(answer, f.output.zone()), show.MarkdownDamage(c.met.Met()))
		return err
	}
	page := c.page(&f.output)
	page.Width = c.width()
	return page.Answer(answer, f.all)
}

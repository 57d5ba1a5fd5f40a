package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/show"
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
		Use:   "explain job/NAME | explain pod/NAME",
		Short: "Say why a Job ended as it did, or what it waits for",
		Long: `Say why a Job ended as it did, or what it waits for: the verdict first, then what decided it, the
first cause, what the failed tries had in common, who deleted a pod, where the time went, and what
was ruled out. Objects and Events may be deleted by now: the log is enough.

Each sentence ends with the numbers of the records that it follows from. 'jobledger events --from N
--limit 1' shows one. Nothing is guessed: where the log cannot tell, the answer says "unknown", and
what is missing. Times in which the cluster was not watched are named.

--link adds addresses of the pods that failed. Its template knows {{.Namespace}}, {{.Job}}, {{.Pod}},
{{.UID}}, {{.Node}}, {{.Container}}, {{.From}}, {{.To}}, {{.FromMillis}} and {{.ToMillis}}.

An answer fits a screen; -v shows all of it. -o json writes one object (docs/postmortem.md has its
fields), -o md a text for a chat.`,
		Example: `  jobledger explain job/etl --log DIR -n prod
  jobledger explain job/etl --log DIR -n prod --at 2026-01-02T15:04:05Z    as it was then
  jobledger explain job/etl --log DIR -n prod -o md`,
		Args: oneJobArg,
		RunE: func(cmd *cobra.Command, args []string) error { return c.explain(cmd.Context(), &f, args) },
	}
	f.add(cmd, c, formatTable, formatMarkdown, formatJSON, formatYAML)
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
	src, found, err := f.read(ctx, c, args)
	if src != nil {
		defer src.Close()
	}
	if found == nil {
		return err
	}
	if failed := found.Compare(ctx); failed != nil {
		err = errors.Join(err, failed)
	}
	answer := found.Answer()
	if h, _ := parseHandle(args); h.pod {
		if answer, err = found.PodAnswer(h.name); err != nil {
			return err
		}
	}
	if failed := found.Link(&answer, links); failed != nil {
		err = errors.Join(err, failed)
	}
	return errors.Join(c.showAnswer(f, &answer), err)
}

func (c *cli) showAnswer(f *explainFlags, answer *explain.Answer) error {
	switch {
	case f.output.document():
		return c.value(&f.output, answer)
	case f.output.format == formatMarkdown:
		_, err := fmt.Fprint(c.out, show.Markdown(answer, f.output.zone()))
		return err
	}
	page := c.page(&f.output)
	page.Width = c.width()
	return page.Answer(answer, f.all)
}

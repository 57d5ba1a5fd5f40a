package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/show"
)

// formatMarkdown is an answer for a chat.
const formatMarkdown = "md"

// explainFlags choose what is explained, and how it is shown.
type explainFlags struct {
	source    sourceFlags
	output    outputFlag
	namespace string
	at        string
	all       bool
}

func newExplain(c *cli) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain job/NAME | explain pod/NAME",
		Short: "Say why a Job ended as it did, or what it waits for",
		Long: `Say why a Job ended as it did, or what it waits for: the verdict first, then what settled it, the
first cause, what the failed tries had in common, who deleted a pod, where the time went, and what
was ruled out. Objects and Events may be deleted by now: the log is enough.

Each sentence ends with the numbers of the records that it follows from. 'jobledger events --from N
--limit 1' shows one. Nothing is guessed: where the log cannot tell, the answer says "unknown", and
what is missing. Times in which nobody watched are named.

An answer fits a screen; -v shows all of it. -o json writes one object (docs/postmortem.md has its
fields), -o md a text for a chat.`,
		Example: `  jobledger explain job/etl --log DIR -n prod
  jobledger explain job/etl --log DIR -n prod --at 2026-01-02T15:04:05Z    as it was then
  jobledger explain job/etl --log DIR -n prod -o md`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("say what to explain: job/NAME or pod/NAME")
			}
			return cobra.MaximumNArgs(2)(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.explain(cmd.Context(), &f, args) },
	}
	f.source.add(cmd)
	f.output.addFormats(cmd, formatTable, formatMarkdown, formatJSON, formatYAML)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "where the Job is (\"default\")")
	cmd.Flags().StringVar(&f.at, "at", "", "as of a record's sequence (41) or a time (2026-01-02T15:04:05Z)")
	cmd.Flags().BoolVarP(&f.all, "verbose", "v", false, "show all of the answer, however long it is")
	return cmd
}

func (c *cli) explain(ctx context.Context, f *explainFlags, args []string) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	at, err := parsePoint(f.at)
	if err != nil {
		return err
	}
	name, err := parseJob(args)
	if err != nil {
		return err
	}
	if name == "" {
		return usage("say which Job to explain: job/NAME")
	}
	src, err := f.source.openToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	found, err := c.caseOf(ctx, src, orDefault(f.namespace), name, at)
	if found == nil {
		return err
	}
	answer := found.Answer()
	return errors.Join(c.showAnswer(f, &answer), err)
}

// caseOf reads the newest Job of that name that there was at that point. With an error that says how the log is damaged there may be a
// case too.
func (c *cli) caseOf(ctx context.Context, src history.Source, namespace, name string, at history.Point) (*explain.Case, error) {
	streams, err := findJobs(ctx, src, namespace, name)
	if err != nil {
		return nil, err
	}
	for i, s := range streams {
		found, err := explain.Read(ctx, src, s, at)
		if errors.Is(err, history.ErrNoJob) && i+1 < len(streams) {
			continue
		}
		if err == nil {
			c.noteOlder(streams[i+1:])
		}
		return found, err
	}
	return nil, fmt.Errorf("the log knows no job/%s at that point", name)
}

func (c *cli) showAnswer(f *explainFlags, answer *explain.Answer) error {
	switch f.output.format {
	case formatJSON, formatYAML:
		text, err := show.Indented(answer)
		if err != nil {
			return err
		}
		return c.document(f.output.format, text)
	case formatMarkdown:
		_, err := fmt.Fprint(c.out, show.Markdown(answer))
		return err
	}
	page := c.page(&f.output)
	page.Width = c.width()
	return page.Answer(answer, f.all)
}

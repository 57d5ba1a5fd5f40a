package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/page"
	"github.com/jobledger/jobledger/internal/read/show"
)

// formatHTML is the output format of an answer as one file for a browser.
const formatHTML = "html"

func newExplain(c *cli.CLI) *cobra.Command {
	var f cli.AskFlags
	var all bool
	q := ask.Explain.New()
	cmd := &cobra.Command{
		Use:   "explain [NAMESPACE/]NAME | explain job/NAME | explain pod/NAME | explain cronjob/NAME",
		Short: q.About,
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
fields), -o md a text for a chat, -o html one file for a browser, a mail or a printer: the answer, the
picture of the tries, and the cited records in full. It has no script.`,
		Example: `  jobledger explain etl --log DIR
  jobledger explain prod/etl --log DIR
  jobledger explain job/etl --log DIR -n prod --at 2026-01-02T15:04:05Z    as it was then
  jobledger explain job/etl --log DIR -n prod -o md
  jobledger explain job/etl --log DIR -n prod -o html > etl.html
  jobledger explain cronjob/etl --log DIR -n prod`,
		Args: cli.OneJobArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Output.Format == formatHTML {
				return explainFile(cmd.Context(), c, &f, q, args)
			}
			return cli.AskAndShow(cmd.Context(), c, &f, q, args, func(a *explain.Answer) error { return showAnswer(c, &f.Output, a, all) })
		},
	}
	f.Add(cmd, c, q.Flags, cli.FormatTable, cli.FormatMarkdown, formatHTML, cli.FormatJSON, cli.FormatYAML)
	cmd.ValidArgsFunction = cli.CompleteObjects(c, &f.Job, false)
	cmd.Flags().BoolVarP(&all, "verbose", "v", false, "show all of the answer, however long it is")
	return cmd
}

// explainFile writes the answer of explain as one HTML file. The file also has the picture, and the records that the
// answer names, read from the same log.
func explainFile(ctx context.Context, c *cli.CLI, f *cli.AskFlags, q *ask.Asked[explain.Answer], args []string) error {
	if err := cli.ReadQuestion(f, q, args); err != nil {
		return err
	}
	src, _, err := f.Job.Source.OpenToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	return cli.PutAndShow(ctx, c, src, q, c.Note, func(a *explain.Answer) error {
		text, err := page.File(ctx, c.Here(src), page.FileOf{
			Answer: a, At: q.Flags.Lookup("at").Value.String(), Log: f.Job.Source.Log, Zone: f.Output.Zone(),
		})
		if err != nil {
			return err
		}
		_, err = c.Out.Write(text)
		return err
	})
}

func showAnswer(c *cli.CLI, output *cli.OutputFlag, answer *explain.Answer, all bool) error {
	switch {
	case output.Document():
		return c.Value(output, answer)
	case output.Format == cli.FormatMarkdown:
		_, err := fmt.Fprint(c.Out, show.Markdown(answer, output.Zone()), show.MarkdownDamage(c.Met.Met()))
		return err
	}
	page := c.Page(output)
	page.Width = c.Width()
	return page.Answer(answer, all)
}

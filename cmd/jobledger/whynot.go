package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/which"
)

func newWhyNot(c *cli) *cobra.Command {
	var f cronFlags
	cmd := &cobra.Command{
		Use:   "why-not [NAMESPACE/]NAME TIME | why-not cronjob/NAME TIME",
		Short: "Say what became of one instant of a CronJob",
		Long: `Say what became of an instant: whether it was a due time of the CronJob, whether a Job was started for
it, and if not, what held it back. TIME is a moment, a time of day, or how long ago, in UTC unless it
names a zone (2026-01-02T03:00+01:00), or with --local in the time zone of this machine.

NAME alone is a CronJob, or a Job or a pod that one made: then it is that CronJob. What is not in the
namespace and in one other is taken there, unless -n or NAMESPACE/NAME says where.

Each sentence ends with the numbers of the records that it follows from. Of an instant that is no due
time the nearest due times are named.`,
		Example: `  jobledger why-not cronjob/nightly 2026-01-02T03:00 --log DIR -n batch`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("say which CronJob, and when: cronjob/NAME 2026-01-02T15:04")
			}
			return atMost(3, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.whyNot(cmd.Context(), &f, args) },
	}
	f.add(cmd, c)
	f.output.addLocal(cmd)
	return cmd
}

func (c *cli) whyNot(ctx context.Context, f *cronFlags, args []string) error {
	last := len(args) - 1
	text := args[last]
	w, ok := which.ParseWhen(text, f.output.zone())
	if !ok {
		return usage("%q is no time: write 2026-01-02T15:04, 15:04, or 5m for so long ago", text)
	}
	src, lives, _, err := f.findAll(ctx, c, args[:last])
	if src != nil {
		defer src.Close()
	}
	if err != nil {
		return err
	}
	s, err := settleOf(ctx, src, w)
	if err != nil {
		return err
	}
	at := w.Point(s.now, s.end)
	if which.Beyond(at) {
		return usage("%q lies outside the years that a log knows, 1930 to 2189", text)
	}
	c.noteDay("at", text, w, at, s)
	answer, err := explain.ReadWhyNot(ctx, src, lives, at.Go().UTC().Truncate(time.Second), f.output.textZone())
	if err != nil {
		return err
	}
	if f.output.document() {
		return c.value(&f.output, answer)
	}
	page := c.page(&f.output)
	page.Width = c.width()
	return page.Sentences(answer.Sentences)
}

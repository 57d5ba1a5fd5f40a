package main

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// getOne shows one object, and what it becomes if that is wanted.
func getOne(ctx context.Context, c *cli.CLI, f *getFlags, args []string, h which.Object) error {
	switch {
	case f.watch && f.one.Flags.Changed("at"):
		return cli.Usage("-w goes on from now, and --at shows how it was then: leave one out")
	case f.changed("why"):
		return cli.Usage("--why is for lists: 'jobledger explain %s' says why one Job ended so", h)
	case f.listGiven():
		return cli.Usage("--state, -l, --since, --limit, --continue and --sort-by are for lists: write get jobs")
	}
	if err := cli.ReadQuestion(&f.AskFlags, f.one, args); err != nil {
		return err
	}
	src, live, err := f.Job.Source.OpenToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.watch && !live {
		return f.Job.Source.NotLive()
	}
	head, err := endOf(ctx, src, f.watch)
	if err != nil {
		return err
	}
	var shown *ask.State
	err = cli.PutAndShow(ctx, c, src, f.one, c.Note, func(state *ask.State) error {
		if shown = state; cli.ClientOf(src) != nil && !f.Output.Document() && state.InZone() {
			shown = withZone(ctx, c, src, f.one, state)
		}
		return showState(c, &f.Output, shown)
	})
	if err != nil || !f.watch {
		return err
	}
	return unlessInterrupted(ctx, watchOne(ctx, c, src, &f.Output, shown, head+1))
}

// withZone is the state of a CronJob with the rules of its zone, which people are shown its due times by and which are no part of
// the answer's JSON: they are found in the records. Where that fails, times are in UTC alone.
func withZone(ctx context.Context, c *cli.CLI, src history.Source, q *ask.Asked[ask.State], state *ask.State) *ask.State {
	silent := func(string) {}
	here, err := q.Ask(ctx, c.AskHere(src, serve.Hears{Note: silent, Behind: silent}))
	if err != nil || here.Stream() != state.Stream() {
		return state
	}
	return here
}

func showState(c *cli.CLI, output *cli.OutputFlag, s *ask.State) error {
	switch {
	case output.Document():
		return c.Value(output, s)
	case output.Format == cli.FormatName && s.CronJob != nil:
		_, err := fmt.Fprintln(c.Out, cronNameOf(words.Clean(s.CronJob.Name)))
		return err
	case output.Format == cli.FormatName:
		_, err := fmt.Fprintln(c.Out, nameOf(words.Clean(s.Job.Name)))
		return err
	case s.CronJob != nil:
		return c.Page(output).CronJob(s.CronJob)
	}
	return c.Page(output).Job(s.Job)
}

// watchOne shows the object again whenever a batch of records changed it, from that record on.
func watchOne(ctx context.Context, c *cli.CLI, src history.Source, output *cli.OutputFlag, shown *ask.State, from events.Sequence) error {
	s := shown.Stream()
	w := watched{
		at: func(ctx context.Context, watch *history.Live, last *events.Record) (state ask.State, ok bool, err error) {
			if s.Kind == events.StreamCronJob {
				job, ok, err := watch.CronJob(ctx, s, last)
				return ask.State{CronJob: &job}, ok, err
			}
			job, ok := watch.Job(s, last)
			return ask.State{Job: &job}, ok, nil
		},
		show: func(state *ask.State) error { return showState(c, output, state) },
	}
	return w.again(ctx, c.Out, between[output.Format], src, shown, from)
}

// between is what stands between two states of an object.
var between = map[string]string{cli.FormatTable: "\n", cli.FormatWide: "\n", cli.FormatYAML: "---\n", cli.FormatPath: "\n"}

// cronNameOf is a CronJob as kubectl names it.
func cronNameOf(name string) string { return "cronjob.batch/" + name }

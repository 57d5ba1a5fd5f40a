package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/read/watch"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// getOne prints one object and, with -w, the object again after each change.
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
	head, err := watch.EndOf(ctx, src, f.watch)
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
	return watch.UnlessInterrupted(ctx, watchOne(ctx, c, src, &f.Output, shown, head+1))
}

// withZone returns the state of a CronJob with the rules of its time zone, in which people see its due times. The JSON
// answer of a controller lacks these rules, so they are read from the records. After an error it returns state
// unchanged, and its times are shown in UTC only.
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

// watchOne prints an object again after each batch of records that changed it. first is the state that was printed
// already, and from the first record that counts.
func watchOne(ctx context.Context, c *cli.CLI, src history.Source, output *cli.OutputFlag, first *ask.State, from events.Sequence) error {
	shown := watch.Shown[*ask.State]{Said: func(s *ask.State) (string, uint64, any) { return s.Stream().ID, 0, s.Unplaced() }}
	if _, err := shown.Changed(first); err != nil {
		return err
	}
	s := first.Stream()
	live := history.LiveJob(src, s)
	one := func(_ events.Stream, last *events.Record) (state *ask.State, ok bool, err error) {
		if uint64(last.Sequence) <= first.AsOf().Sequence {
			return nil, false, nil
		}
		if s.Kind == events.StreamCronJob {
			job, ok, err := live.CronJob(ctx, s, last)
			return &ask.State{CronJob: &job}, ok, err
		}
		job, ok := live.Job(s, last)
		return &ask.State{Job: &job}, ok, nil
	}
	return shown.Follow(ctx, src, live, from, one, func(state *ask.State) error {
		if _, err := io.WriteString(c.Out, between[output.Format]); err != nil {
			return err
		}
		return showState(c, output, state)
	})
}

// between is what is printed between two states of an object, by output format.
var between = map[string]string{cli.FormatTable: "\n", cli.FormatWide: "\n", cli.FormatYAML: "---\n", cli.FormatPath: "\n"}

// cronNameOf returns the name of a CronJob as kubectl prints it: cronjob.batch/NAME.
func cronNameOf(name string) string { return "cronjob.batch/" + name }

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/serve"
)

// askFlags are the flags of a command that asks a question, but for its parameters: where, in which namespace, and how the answer
// is shown.
type askFlags struct {
	job    jobFlags
	output outputFlag
}

// ofCommand are parameters of questions that commands set by other flags, or as an argument.
var ofCommand = map[string]bool{ask.FlagNamespace: true, ask.FlagNear: true, ask.FlagZone: true, ask.FlagTexts: true}

// addParameters makes the parameters of a question flags of a command.
func addParameters(cmd *cobra.Command, parameters *pflag.FlagSet) {
	parameters.VisitAll(func(f *pflag.Flag) {
		if !ofCommand[f.Name] {
			cmd.Flags().AddFlag(f)
		}
	})
}

// askAndShow asks a question and shows the answer. With an answer beside an error, which says why it may not be whole, it shows
// the answer and fails.
func askAndShow[A any](ctx context.Context, c *cli, f *askFlags, q *ask.Asked[A], args []string, show func(*A) error) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	if err := readQuestion(f, q, args); err != nil {
		return err
	}
	open := f.job.source.open
	if q.Folds {
		open = f.job.source.openToFold
	}
	src, _, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	return putAndShow(ctx, c, src, q, c.note, show)
}

// readQuestion sets the parameters of a question that are flags of other names, and takes its arguments.
func readQuestion[A any](f *askFlags, q *ask.Asked[A], args []string) error {
	if err := f.set(q.Flags, q.Takes); err != nil {
		return err
	}
	return q.Read(args)
}

// putAndShow asks a question that was read and shows the answer, and behind it what is better said there.
func putAndShow[A any](
	ctx context.Context, c *cli, src history.Source, q *ask.Asked[A], note func(string), show func(*A) error,
) error {
	var behind []string
	hears := serve.Hears{Note: note, Behind: func(text string) { behind = append(behind, text) }, Read: c.hasRead}
	answer, err := put(ctx, c, src, q, hears)
	if answer == nil {
		return err
	}
	shown := show(answer)
	if shown == nil {
		for _, text := range behind {
			note(text)
		}
	}
	return errors.Join(shown, err)
}

// put asks a question that was read: here, or the controller that has the log. A zone of this machine that has no name is known
// here alone: then the records are fetched.
func put[A any](ctx context.Context, c *cli, src history.Source, q *ask.Asked[A], hears serve.Hears) (*A, error) {
	client, zone := clientOf(src), q.Flags.Lookup(ask.FlagZone).Value.String()
	if client != nil && zone != unnamedZone {
		return serve.Ask(ctx, client, q, hears)
	}
	return q.Ask(ctx, c.askHere(src, hears))
}

// unnamedZone stands for the zone of this machine where that has no name by which a controller would know it.
const unnamedZone = "Local"

// set sets the parameters that are flags of other names.
func (f *askFlags) set(parameters *pflag.FlagSet, takes ask.Takes) error {
	values := map[string]string{}
	switch {
	case takes == ask.Nothing || f.job.given():
		values[ask.FlagNamespace] = f.job.namespace
	default:
		values[ask.FlagNear] = f.job.namespace
	}
	if f.output.local {
		values[ask.FlagZone] = localZone()
		if !f.output.document() {
			values[ask.FlagTexts] = localZone()
		}
	}
	for name, value := range values {
		if value == "" {
			continue
		}
		if err := parameters.Set(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

// localZone is the name of this machine's time zone, or unnamedZone.
func localZone() string {
	if name := time.Local.String(); name != unnamedZone {
		return name
	}
	path, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil || os.Getenv("TZ") != "" {
		return unnamedZone
	}
	_, name, is := strings.Cut(path, "zoneinfo/")
	if _, err := time.LoadLocation(name); !is || err != nil {
		return unnamedZone
	}
	return name
}

// askHere is where questions are answered by this process.
func (c *cli) askHere(src history.Source, hears serve.Hears) ask.Source {
	out := ask.Source{Source: src, Note: hears.Note, Behind: hears.Behind, Clock: time.Now, Damage: c.met}
	if client := clientOf(src); client != nil {
		out.NotListed = func(ctx context.Context) string {
			info, _ := client.Info(ctx) // with an error there is only no note
			return info.NotListed
		}
	}
	return out
}

// here is where questions are answered by this process, with notes at once.
func (c *cli) here(src history.Source) ask.Source {
	return c.askHere(src, serve.Hears{Note: c.note, Behind: c.note})
}

// note tells on standard error what the user should know beside the answer.
func (c *cli) note(text string) { fmt.Fprintf(c.err, "note: %s\n", text) }

// hasRead counts records that a controller read for this command.
func (c *cli) hasRead(records uint64) {
	if c.reads != nil {
		c.reads.read(records)
	}
}

// clientOf is the controller that is asked; nil for a log that this process reads.
func clientOf(src history.Source) *serve.Client {
	if s, is := src.(countedSource); is {
		src = s.Source
	}
	client, _ := src.(*serve.Client)
	return client
}

// add adds the flags of a command that asks about one Job.
func (f *askFlags) add(cmd *cobra.Command, c *cli, parameters *pflag.FlagSet, formats ...string) {
	f.job.add(cmd, c, "where the Job is (\"default\")")
	f.output.addFormats(cmd, formats...)
	f.output.addLocal(cmd)
	addParameters(cmd, parameters)
	cmd.ValidArgsFunction = completeJobs(c, &f.job, false)
}

// addMany adds the flags of a command that asks about many Jobs.
func (f *askFlags) addMany(cmd *cobra.Command, c *cli, parameters *pflag.FlagSet) {
	f.job.add(cmd, c, "only Jobs in this namespace")
	f.output.add(cmd)
	f.output.addLocal(cmd)
	addParameters(cmd, parameters)
}

// oneJobArg is for commands that take one Job.
func oneJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("say which Job: job/NAME")
	}
	return atMost(2, args)
}

// addCron adds the flags of a command that asks about one CronJob.
func (f *askFlags) addCron(cmd *cobra.Command, c *cli, parameters *pflag.FlagSet) {
	f.job.add(cmd, c, "namespace of the CronJob (\"default\")")
	f.output.addFormats(cmd, formatTable, formatJSON, formatYAML)
	addParameters(cmd, parameters)
	cmd.ValidArgsFunction = completeCronJobs(c, &f.job)
}

// oneCronJobArg is for commands that take one CronJob.
func oneCronJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("say which CronJob: cronjob/NAME")
	}
	return atMost(2, args)
}

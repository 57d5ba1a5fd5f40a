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

// askAndShow asks a question and shows the answer: here, or in the controller that has the log. With an answer beside an error, which
// says why it may not be whole, it shows the answer and fails.
func askAndShow[A any](ctx context.Context, c *cli, f *askFlags, q *ask.Asked[A], args []string, show func(*A) error) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	named, err := f.set(q.Flags, q.Takes)
	if err != nil {
		return err
	}
	if err := q.Read(args); err != nil {
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
	var behind []string
	hears := serve.Hears{Note: c.note, Behind: func(text string) { behind = append(behind, text) }, Read: c.hasRead}
	var answer *A
	if client := clientOf(src); client != nil && named {
		answer, err = serve.Ask(ctx, client, q, hears)
	} else {
		answer, err = q.Ask(ctx, c.askHere(src, hears))
	}
	if answer == nil {
		return err
	}
	shown := show(answer)
	if shown == nil {
		for _, text := range behind {
			c.note(text)
		}
	}
	return errors.Join(shown, err)
}

// set sets the parameters that are flags of other names. named is false where the zone of this machine has no name by which a
// controller would know it.
func (f *askFlags) set(parameters *pflag.FlagSet, takes ask.Takes) (named bool, err error) {
	values := map[string]string{}
	switch {
	case takes == ask.Nothing || f.job.given():
		values[ask.FlagNamespace] = f.job.namespace
	default:
		values[ask.FlagNear] = f.job.namespace
	}
	named = true
	if f.output.local {
		name, is := localZone()
		if named = is; !is {
			name = "Local"
		}
		values[ask.FlagZone] = name
		if !f.output.document() {
			values[ask.FlagTexts] = name
		}
	}
	for name, value := range values {
		if value == "" {
			continue
		}
		if err := parameters.Set(name, value); err != nil {
			return named, fmt.Errorf("set %s: %w", name, err)
		}
	}
	return named, nil
}

// localZone is the name of this machine's time zone, if it has one.
func localZone() (string, bool) {
	if name := time.Local.String(); name != "Local" {
		return name, true
	}
	path, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return "", false
	}
	_, name, is := strings.Cut(path, "zoneinfo/")
	if _, err := time.LoadLocation(name); !is || err != nil || os.Getenv("TZ") != "" {
		return "", false
	}
	return name, true
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

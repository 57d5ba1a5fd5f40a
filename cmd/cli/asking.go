package cli

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
	"github.com/jobledger/jobledger/internal/read/which"
)

// AskFlags are the common flags of commands that show an answer about a log: which log, which namespace, and how to
// print. A question is what such a command asks (package ask); it has parameters of its own.
type AskFlags struct {
	Job    JobFlags
	Output OutputFlag
}

// OfCommand lists the parameters of questions (package ask) that are not flags: a command sets them itself.
var OfCommand = map[string]bool{ask.FlagNamespace: true, ask.FlagNear: true, ask.FlagZone: true, ask.FlagTexts: true}

// AddParameters adds a question's parameters (package ask) to a command as flags.
func AddParameters(cmd *cobra.Command, parameters *pflag.FlagSet) {
	parameters.VisitAll(func(f *pflag.Flag) {
		if !OfCommand[f.Name] {
			cmd.Flags().AddFlag(f)
		}
	})
}

// AskAndShow asks a question (package ask) about the log, and calls show with the answer. An answer may come with an
// error that says why it may be incomplete; then AskAndShow shows the answer and returns the error.
func AskAndShow[A any](ctx context.Context, c *CLI, f *AskFlags, q *ask.Asked[A], args []string, show func(*A) error) error {
	if err := f.Output.Validate(); err != nil {
		return err
	}
	if err := ReadQuestion(f, q, args); err != nil {
		return err
	}
	open := f.Job.Source.Open
	if q.Folds {
		open = f.Job.Source.OpenToFold
	}
	src, _, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	return PutAndShow(ctx, c, src, q, c.Note, show)
}

// ReadQuestion sets the parameters of a question from the command's own flags, and from the arguments.
func ReadQuestion[A any](f *AskFlags, q *ask.Asked[A], args []string) error {
	takes := q.Takes
	if takes == ask.MaybeOne && namesNone(args) {
		takes = ask.Nothing
	}
	if err := f.set(q.Flags, takes); err != nil {
		return err
	}
	if err := q.Read(args); err != nil {
		return err
	}
	f.Job.Source.cluster.scope = q.Namespace
	return nil
}

// namesNone reports whether arguments name no object, as "jobs" does.
func namesNone(args []string) bool {
	if len(args) == 0 {
		return true
	}
	h, _, err := which.Parse(args)
	return err == nil && h.Name == ""
}

// PutAndShow asks a question that was read, shows the answer, and then the notes that belong behind it.
func PutAndShow[A any](
	ctx context.Context, c *CLI, src history.Source, q *ask.Asked[A], note func(string), show func(*A) error,
) error {
	var behind []string
	hears := serve.Hears{Note: note, Behind: func(text string) { behind = append(behind, text) }, Read: c.HasRead}
	answer, err := Put(ctx, c, src, q, hears)
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

// Put asks a question whose parameters are set already. If src leads to a controller or a reader ('jobledger serve'),
// that process answers; otherwise this one. If the time zone of this machine has no name, no other process knows it,
// and this process answers from the records.
func Put[A any](ctx context.Context, c *CLI, src history.Source, q *ask.Asked[A], hears serve.Hears) (*A, error) {
	client, zone := ClientOf(src), q.Flags.Lookup(ask.FlagZone).Value.String()
	if client != nil && zone != unnamedZone {
		return serve.Ask(ctx, client, q, hears)
	}
	return q.Ask(ctx, c.AskHere(src, hears))
}

// unnamedZone stands for this machine's time zone if it has no name that another process would know.
const unnamedZone = "Local"

// set sets those parameters of a question that come from the command's own flags.
func (f *AskFlags) set(parameters *pflag.FlagSet, takes ask.Takes) error {
	values := map[string]string{}
	switch {
	case takes == ask.Nothing || takes == ask.AText || f.Job.given():
		values[ask.FlagNamespace] = f.Job.Namespace
	default:
		values[ask.FlagNear] = f.Job.Namespace
	}
	if f.Output.Local {
		values[ask.FlagZone] = localZone()
		if !f.Output.Document() {
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

// localZone returns the name of this machine's time zone, or unnamedZone if it has none.
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

// AskHere returns a source for questions about src. This process computes the answers.
func (c *CLI) AskHere(src history.Source, hears serve.Hears) ask.Source {
	out := ask.Source{Source: src, Note: hears.Note, Behind: hears.Behind, Clock: time.Now, Damage: c.Met}
	if client := ClientOf(src); client != nil {
		out.NotListed = func(ctx context.Context) string {
			info, _ := client.Info(ctx) // if it fails, only this note is missing
			return info.NotListed
		}
	}
	return out
}

// From returns a source for questions about src. If src leads to a reader ('jobledger serve'), the reader computes the
// answers, otherwise this process.
func (c *CLI) From(src history.Source, hears serve.Hears) ask.Source {
	out := c.AskHere(src, hears)
	if client := ClientOf(src); client != nil {
		out.Elsewhere = client.Elsewhere(hears)
	}
	return out
}

// Here does the same as AskHere; notes are printed at once.
func (c *CLI) Here(src history.Source) ask.Source {
	return c.AskHere(src, serve.Hears{Note: c.Note, Behind: c.Note})
}

// Note prints a note for the user on standard error, unless the same text was printed before.
func (c *CLI) Note(text string) {
	if c.noted == nil {
		c.noted = map[string]bool{}
	}
	if !c.noted[text] {
		c.noted[text] = true
		fmt.Fprintf(c.Err, "note: %s\n", text)
	}
}

// HasRead adds to the number of records read that the terminal shows: a controller read these for this command.
func (c *CLI) HasRead(records uint64) {
	if c.Reads != nil {
		c.Reads.read(records)
	}
}

// ClientOf returns the client of the controller or reader behind src; nil for a log that this process reads itself.
func ClientOf(src history.Source) *serve.Client {
	if s, is := src.(countedSource); is {
		src = s.Source
	}
	client, _ := src.(*serve.Client)
	return client
}

// Add adds the flags of a command about one Job. parameters are those of its question, formats the values of -o.
func (f *AskFlags) Add(cmd *cobra.Command, c *CLI, parameters *pflag.FlagSet, formats ...string) {
	f.Job.Add(cmd, c, "where the Job is (\"default\")")
	f.Job.AddCluster(cmd)
	f.Output.AddFormats(cmd, formats...)
	f.Output.AddLocal(cmd)
	AddParameters(cmd, parameters)
	cmd.ValidArgsFunction = completeJobs(c, &f.Job, false)
}

// AddMany adds the flags of a command about many Jobs.
func (f *AskFlags) AddMany(cmd *cobra.Command, c *CLI, parameters *pflag.FlagSet) {
	f.Job.Add(cmd, c, "only Jobs in this namespace")
	f.Job.AddCluster(cmd)
	f.Output.Add(cmd)
	f.Output.AddLocal(cmd)
	AddParameters(cmd, parameters)
}

// OneJobArg checks the arguments of a command about one Job.
func OneJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return Usage("say which Job: job/NAME")
	}
	return AtMost(2, args)
}

// AddCron adds the flags of a command about one CronJob.
func (f *AskFlags) AddCron(cmd *cobra.Command, c *CLI, parameters *pflag.FlagSet) {
	f.Job.Add(cmd, c, "namespace of the CronJob (\"default\")")
	f.Job.AddCluster(cmd)
	f.Output.AddFormats(cmd, FormatTable, FormatJSON, FormatYAML)
	AddParameters(cmd, parameters)
	cmd.ValidArgsFunction = completeCronJobs(c, &f.Job)
}

// OneCronJobArg checks the arguments of a command about one CronJob.
func OneCronJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return Usage("say which CronJob: cronjob/NAME")
	}
	return AtMost(2, args)
}

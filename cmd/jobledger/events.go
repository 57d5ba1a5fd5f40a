package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// eventsFlags are the flags of events, which prints records: they say which ones, and how.
type eventsFlags struct {
	cli.AskFlags
	records *ask.Asked[ask.RecordsPage]
	limit   ask.Limit // of all pages together
	watch   bool
}

const eventsHelp = `Show the records of the log, one on each line: what was seen, what was decided and why, and how each
command ended.

With NAME: the records of the Job, the CronJob or the pod of that name. With job/NAME: those of the
newest Job of that name in the namespace: that of -n, or of NAMESPACE/NAME, else "default". With
job/UID, or the beginning of a UID: those of that Job. With pod/NAME: those of the Job of that pod.
With cronjob/NAME: those of the CronJob, which tell of its due times and its Jobs. Otherwise: those
of all Jobs, CronJobs and of the controller, or of one namespace with -n.

--since and --until take a moment, a time of day, or how long ago. 12:12:50 is that time on the
newest day on which the log has it; as --until it is the first one after --since.

-o json writes one JSON object on each line: sequence, time, stream, kind, previous, causes,
critical, endOfBatch, namespace, name, job (the name of the Job), facts (all that decisions read),
evidence (messages and names for people). Unset fields are left out. Times are RFC 3339 in UTC.
Fields are only ever added. Where the log is damaged, the last line is {"damage": […]}.

Tables are as wide as the terminal, or 100 columns. A long text is cut between two words, a long
name in its middle, and no name in a pipe. A few records (--limit or --tail of up to 3) are told
whole. -o wide cuts nothing.`

func newEvents(c *cli.CLI) *cobra.Command {
	f := eventsFlags{records: ask.Events.New()}
	cmd := &cobra.Command{
		Use:   "events [[NAMESPACE/]NAME | job/NAME | pod/NAME | cronjob/NAME]",
		Short: f.records.About,
		Long:  eventsHelp,
		Example: `  jobledger events --log DIR                     everything
  jobledger events --log DIR --since 2026-01-02T15:00 --until 2026-01-02T15:10
  jobledger events job/demo --log DIR            the history of one Job
  jobledger events cronjob/etl --log DIR         what was decided about a CronJob
  jobledger events --log DIR --tail 20 --local   the last 20, in local time
  jobledger events --log DIR --since 12:10 --until 12:15
  jobledger events --decisions --since 1h -w --server http://127.0.0.1:10271
  jobledger events --log DIR -o json --kind CommandEnded | jq 'select(.facts.ending != "done")'`,
		Args:              func(_ *cobra.Command, args []string) error { return cli.AtMost(2, args) },
		ValidArgsFunction: cli.CompleteObjects(c, &f.Job, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := runEvents(cmd.Context(), c, &f, args)
			return errors.Join(err, damageLine(c, &f.Output, err))
		},
	}
	f.Job.Add(cmd, c, "only of this namespace; with job/NAME, where it is (\"default\")")
	f.Job.AddCluster(cmd)
	f.Output.Add(cmd)
	f.Output.AddLocal(cmd)
	f.records.Flags.VisitAll(func(p *pflag.Flag) {
		if p.Name != "limit" && !slices.Contains(ask.HiddenOfEvents, p.Name) && !cli.OfCommand[p.Name] {
			cmd.Flags().AddFlag(p)
		}
	})
	f.limit.Bind(cmd.Flags(), 0, "so many records at most")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "go on with records as they are written, until interrupted")
	cli.CompleteWith(cmd, "kind", ask.KindNames()...)
	return cmd
}

// given reports whether a parameter of the question was given.
func (f *eventsFlags) given(name string) bool { return f.records.Flags.Lookup(name).Changed }

// tail returns the value of --tail.
func (f *eventsFlags) tail() int {
	n, _ := f.records.Flags.GetInt("tail") // there is such a flag
	return n
}

// read checks the flags and the arguments.
func (f *eventsFlags) read(args []string) error {
	if err := f.Output.Validate(); err != nil {
		return err
	}
	if err := cmp.Or(f.limit.Read(), cli.ReadQuestion(&f.AskFlags, f.records, args)); err != nil {
		return err
	}
	switch {
	case f.tail() > 0 && f.limit.Most > 0:
		return cli.Usage("--limit is of the first records, and --tail of the last: leave one out")
	case f.watch && f.given("until"):
		return cli.Usage("-w goes on for ever, and --until says where to end: leave one out")
	case f.watch && f.limit.Most > 0:
		return cli.Usage("-w goes on for ever, and --limit ends: leave one out")
	}
	return nil
}

func runEvents(ctx context.Context, c *cli.CLI, f *eventsFlags, args []string) error {
	if err := f.read(args); err != nil {
		return err
	}
	src, live, err := f.Job.Source.Open(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.watch && !live {
		return f.Job.Source.NotLive()
	}
	l := newListing(ctx, c, src, f, args)
	err = l.history(ctx)
	if flushed := l.printer.Flush(); err != nil || flushed != nil { // records before an error stay valid
		return cmp.Or(err, flushed)
	}
	if err := l.tellMissing(); err != nil {
		return err
	}
	if f.watch {
		return l.follow(ctx)
	}
	switch {
	case l.shown == 0:
		fmt.Fprintln(c.Err, "No records found.")
	case l.shown == f.limit.Most && l.last.Next != 0:
		fmt.Fprintf(c.Err, "note: there may be more than these %d records: --from %d goes on\n", l.shown, l.last.Next)
	}
	return nil
}

// damageLine prints all damage that was found, including err, as the last document of the output. It prints only for
// JSON and YAML.
func damageLine(c *cli.CLI, o *cli.OutputFlag, err error) error {
	c.Met.Note(err)
	met := c.Met.Met()
	if len(met) == 0 || !o.Document() {
		return nil
	}
	texts := make([]string, len(met))
	for i := range met {
		texts[i] = met[i].Error()
	}
	line, err := json.Marshal(map[string][]string{"damage": texts})
	if err != nil {
		return err
	}
	if o.Format == cli.FormatYAML {
		fmt.Fprintln(c.Out, "---")
	}
	return c.Document(o.Format, recordjson.VisibleJSON(line))
}

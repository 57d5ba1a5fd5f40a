package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

// eventsFlags are the flags of events, which prints records: they say which ones, and how.
type eventsFlags struct {
	job       cli.JobFlags
	output    cli.OutputFlag
	kinds     []string
	span      ask.Span
	from      uint64
	limit     ask.Limit
	tail      int
	decisions bool
	watch     bool
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
	var f eventsFlags
	cmd := &cobra.Command{
		Use:   "events [[NAMESPACE/]NAME | job/NAME | pod/NAME | cronjob/NAME]",
		Short: "Show the records of the log, of one Job, or of one CronJob",
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
		ValidArgsFunction: cli.CompleteObjects(c, &f.job, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := runEvents(cmd.Context(), c, &f, args)
			return errors.Join(err, damageLine(c, &f.output, err))
		},
	}
	f.job.Add(cmd, c, "only of this namespace; with job/NAME, where it is (\"default\")")
	f.job.AddCluster(cmd)
	f.output.Add(cmd)
	f.output.AddLocal(cmd)
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only records of these kinds, such as PodChanged,CommandEnded")
	f.span.BindSince(cmd.Flags(), "only records from this time on")
	f.span.BindUntil(cmd.Flags(), "only records up to this time, likewise")
	cmd.Flags().Uint64Var(&f.from, "from", 0, "only records from this sequence on")
	f.limit.Bind(cmd.Flags(), 0, "so many records at most")
	cmd.Flags().IntVar(&f.tail, "tail", 0, "only the last so many of the records; all unless given")
	cmd.Flags().BoolVar(&f.decisions, "decisions", false, "only decisions")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "go on with records as they are written, until interrupted")
	cli.CompleteWith(cmd, "kind", cli.KindNames()...)
	return cmd
}

// query returns which records to print, without the times of --since and --until.
func (f *eventsFlags) query() (q history.Query, err error) {
	q = history.Query{From: events.Sequence(f.from), Namespace: f.job.Namespace, Limit: f.limit.Most}
	if err := f.span.Read(f.output.Zone()); err != nil {
		return q, err
	}
	if err := cmp.Or(f.limit.Read(), ask.NotNegative("tail", f.tail)); err != nil {
		return q, err
	}
	switch {
	case f.tail > mostTail:
		return q, cli.Usage("--tail %d: at most %d; --from and --since show more", f.tail, mostTail)
	case f.tail > 0 && f.limit.Most > 0:
		return q, cli.Usage("--limit is of the first records, and --tail of the last: leave one out")
	case f.watch && f.span.Until():
		return q, cli.Usage("-w goes on for ever, and --until says where to end: leave one out")
	case f.watch && f.limit.Most > 0:
		return q, cli.Usage("-w goes on for ever, and --limit ends: leave one out")
	}
	q.Kinds, err = cli.ChosenKinds(f.kinds, f.decisions)
	return q, err
}

// mostTail is the largest value of --tail. That many records are held in memory.
const mostTail = 100_000

// object returns the object that the arguments name; the zero Object for no arguments.
func (f *eventsFlags) object(args []string) (one which.Object, err error) {
	if len(args) == 0 {
		return one, nil
	}
	if one, err = f.job.Object(args); err == nil && one.Kind == which.CronJob && one.Name == "" {
		err = cli.Usage("say which CronJob: cronjob/NAME")
	}
	return one, err
}

// find limits the query to the records of one object, which it looks up in the log.
func (f *eventsFlags) find(ctx context.Context, c *cli.CLI, src history.Source, one which.Object, q *history.Query) (which.Object, error) {
	one, err := f.job.Resolve(ctx, c, src, one)
	if err != nil {
		return one, err
	}
	stream, err := f.job.Find(ctx, c, src, one)
	q.Namespace, q.Stream = "", &stream
	return one, err
}

func runEvents(ctx context.Context, c *cli.CLI, f *eventsFlags, args []string) error {
	if err := f.output.Validate(); err != nil {
		return err
	}
	chosen, err := f.query()
	if err != nil {
		return err
	}
	one, err := f.object(args)
	if err != nil {
		return err
	}
	src, live, err := f.job.Source.Open(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.watch && !live {
		return f.job.Source.NotLive()
	}
	if chosen.Since, chosen.Until, err = f.span.In(ctx, c.Here(src)); err != nil {
		return err
	}
	if one != (which.Object{}) {
		if one, err = f.find(ctx, c, src, one, &chosen); err != nil {
			return err
		}
	}
	p := cli.NewPrinter(c, &f.output, history.NamesOf(ctx, src))
	p.Table.Fold = few(chosen.Limit) || few(f.tail)
	if f.watch {
		p.Live(chosen.Kinds)
	}
	l := &listing{src: src, chosen: chosen, tail: f.tail, printer: p}
	err = l.history(ctx)
	if flushed := p.Flush(); err != nil || flushed != nil { // records that were read before an error are printed
		return cmp.Or(err, flushed)
	}
	if err := l.tellMissing(ctx, c, f); err != nil {
		return err
	}
	if f.watch {
		return l.follow(ctx)
	}
	if l.shown == 0 {
		return tellNothing(ctx, c, src, chosen.Stream, one)
	}
	l.tellMore(c)
	return nil
}

// few reports whether so few records are asked for that each is printed in full, over several lines. For example, a
// user looks up a record that an answer names.
func few(records int) bool { return records > 0 && records <= 3 }

// tellMore prints a note about how to continue, if the limit was reached.
func (l *listing) tellMore(c *cli.CLI) {
	if l.more {
		fmt.Fprintf(c.Err, "note: there may be more than these %d records: --from %d goes on\n", l.shown, l.last+1)
	}
}

// tellMissing prints notes about the requested times: in which the cluster was not watched, or not everything was
// recorded.
func (l *listing) tellMissing(ctx context.Context, c *cli.CLI, f *eventsFlags) error {
	if err := tellGaps(ctx, c, l.src, f, &l.chosen); err != nil && !l.src.Beside(err) {
		return err
	}
	since := cmp.Or(l.since, l.chosen.Since)
	if err := tellPassed(ctx, c, l.src, f, &l.chosen, since, l.printer.Names); err != nil && !l.src.Beside(err) {
		return err
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

// tellGaps prints a note if the cluster was not watched at a requested time. There are no records of that time; what
// happened in it is recorded at its end.
func tellGaps(ctx context.Context, c *cli.CLI, src history.Source, f *eventsFlags, q *history.Query) error {
	var moments []events.Time
	for _, t := range []events.Time{q.Since, q.Until} {
		if t != 0 {
			moments = append(moments, t)
		}
	}
	if len(moments) == 0 {
		return nil
	}
	gaps, err := history.GapsAt(ctx, src, moments...)
	if errors.Is(err, store.ErrPruned) {
		return nil // older records, with the gaps, were deleted; the rest was printed
	}
	for _, g := range gaps {
		fmt.Fprintf(c.Err, "note: %s. What happened then was found at its end, or never\n", show.NotWatched(g, f.output.Zone()))
	}
	return err
}

// listing prints records: those of the whole log, or of one stream (the records of one object).
type listing struct {
	src     history.Source
	chosen  history.Query
	tail    int // print only as many records at the end; 0 for all
	printer *cli.Printer
	next    events.Sequence // first record that the method follow prints
	last    events.Sequence // the record that was printed last
	since   events.Time     // time of the record that was printed first
	shown   int
	more    bool // the limit was reached, so there may be more
}

// history prints the chosen records that exist now.
func (l *listing) history(ctx context.Context) error {
	_, head, err := l.src.Head(ctx)
	if err != nil {
		return err
	}
	l.next = max(l.chosen.From, head.Sequence+1)
	if l.tail > 0 {
		return l.newest(ctx, head.Sequence)
	}
	for r, err := range l.src.Records(ctx, l.chosen) {
		if err != nil {
			return err
		}
		if r.Sequence >= l.next {
			return nil // written since history began: follow prints it
		}
		l.printer.Names.Learn(&r)
		if err := l.show(&r); err != nil {
			return err
		}
	}
	l.more = l.shown > 0 && l.shown == l.chosen.Limit && l.last < head.Sequence
	return nil
}

// newest prints the last l.tail of the chosen records, up to record through.
func (l *listing) newest(ctx context.Context, through events.Sequence) error {
	all, unread := history.Newest(ctx, l.src, l.chosen, l.tail, through)
	for i := range all {
		l.printer.Names.Learn(&all[i])
		if err := l.show(&all[i]); err != nil {
			return err
		}
	}
	return unread
}

// follow prints new records as they are written, until ctx ends.
func (l *listing) follow(ctx context.Context) error {
	for r, err := range l.src.Follow(ctx, l.next) {
		if err != nil {
			return err
		}
		if l.chosen.Stream != nil && r.Stream != *l.chosen.Stream {
			continue
		}
		l.printer.Names.Learn(&r)
		if !l.chosen.Wants(&r, l.printer.Names) {
			l.printer.Names.Forget(&r)
			continue
		}
		if err := l.show(&r); err != nil {
			return err
		}
		if err := l.printer.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// show prints a record. The caller has learned the names in it already.
func (l *listing) show(r *events.Record) error {
	defer l.printer.Names.Forget(r)
	if l.shown == 0 && (l.tail > 0 || l.chosen.From != 0) {
		l.since = r.Time
	}
	l.shown, l.last = l.shown+1, r.Sequence
	return l.printer.Record(r)
}

// tellNothing says why no record was printed. It returns an error if the log does not know the object; that a filter
// matches nothing is no error.
func tellNothing(ctx context.Context, c *cli.CLI, src history.Source, stream *events.Stream, one which.Object) error {
	if stream != nil {
		any := false
		for _, err := range src.ReadStream(ctx, *stream, 0, store.Forward) {
			any = err == nil
			break
		}
		if !any {
			return fmt.Errorf("the log knows no %s", one)
		}
	}
	fmt.Fprintln(c.Err, "No records found.")
	return nil
}

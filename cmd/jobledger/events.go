package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/store"
)

// eventsFlags choose records.
type eventsFlags struct {
	source    sourceFlags
	output    outputFlag
	namespace string
	kinds     []string
	since     string
	until     string
	from      uint64
	limit     int
	decisions bool
	watch     bool
}

func newEvents(c *cli) *cobra.Command {
	var f eventsFlags
	cmd := &cobra.Command{
		Use:   "events [job/NAME | job/UID]",
		Short: "Show the records of the log, or of one Job",
		Long: `Show the records of the log, one on each line: what was seen, what was decided and why, and how each
command ended.

With job/NAME: the records of the newest Job of that name in the namespace (-n, "default" unless
given). With job/UID: those of that Job. Otherwise: those of all Jobs and of the controller, or of
one namespace with -n.

-o json writes one JSON object on each line: sequence, time, stream, kind, previous, causes,
critical, endOfBatch, namespace, name, job (the name of the Job), facts (all that decisions read),
evidence (messages and names for people). Unset fields are left out. Times are RFC 3339 in UTC.
Fields are only ever added.

Tables are as wide as the terminal, or 100 columns. A long text is cut between two words, a long
name in its middle, and no name in a pipe. -o wide cuts nothing.`,
		Example: `  jobledger events --log DIR                     everything
  jobledger events --log DIR --since 2026-01-02T15:00 --until 2026-01-02T15:10
  jobledger events job/demo --log DIR            the history of one Job
  jobledger events --decisions --since 1h -w --server http://127.0.0.1:10271
  jobledger events --log DIR -o json --kind CommandEnded | jq 'select(.facts.ending != "done")'`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return c.events(cmd.Context(), &f, args) },
	}
	f.source.add(cmd)
	f.output.add(cmd)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "only of this namespace; with job/NAME, where it is (\"default\")")
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only records of these kinds, such as PodChanged,CommandEnded")
	cmd.Flags().StringVar(&f.since, "since", "", "only records from this time on: 2h before now, or 2026-01-02T15:04:05Z")
	cmd.Flags().StringVar(&f.until, "until", "", "only records up to this time, likewise")
	cmd.Flags().Uint64Var(&f.from, "from", 0, "only records from this sequence on")
	cmd.Flags().IntVar(&f.limit, "limit", 0, "so many records at most; all unless given")
	cmd.Flags().BoolVar(&f.decisions, "decisions", false, "only decisions")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "go on with records as they are written, until interrupted")
	completeWith(cmd, "kind", kindNames()...)
	return cmd
}

// kindNames are the names of all kinds, by number.
func kindNames() []string {
	var out []string
	for k := events.Kind(1); k < 256; k++ {
		if k.Known() {
			out = append(out, k.String())
		}
	}
	return out
}

// query says which records are wanted of the log.
func (f *eventsFlags) query() (q history.Query, err error) {
	now := time.Now()
	q = history.Query{From: events.Sequence(f.from), Namespace: f.namespace, Limit: f.limit}
	if q.Since, err = parseBound("since", f.since, now); err != nil {
		return q, err
	}
	if q.Until, err = parseBound("until", f.until, now); err != nil {
		return q, err
	}
	switch {
	case f.limit < 0:
		return q, usage("--limit %d: must be 0 or more", f.limit)
	case f.watch && f.until != "":
		return q, usage("-w goes on for ever, and --until says where to end: leave one out")
	case f.watch && f.limit > 0:
		return q, usage("-w goes on for ever, and --limit ends: leave one out")
	}
	q.Kinds, err = chosenKinds(f.kinds, f.decisions)
	return q, err
}

// chosenKinds are those of --kind, or of --decisions; none for all. Each is there once.
func chosenKinds(names []string, decisions bool) (kinds []events.Kind, err error) {
	if decisions && len(names) > 0 {
		return nil, usage("--decisions is short for --kind Decided,WouldDecide: give one of them")
	}
	if decisions {
		return []events.Kind{events.KindDecided, events.KindWouldDecide}, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(kindNames(), func(k string) bool { return strings.EqualFold(k, strings.ReplaceAll(name, "-", "")) })
		if i < 0 {
			return nil, usage("--kind %s: there is no such kind; there are %s", name, strings.Join(kindNames(), ", "))
		}
		if kind, _ := events.KindNamed(kindNames()[i]); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

func (c *cli) events(ctx context.Context, f *eventsFlags, args []string) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	chosen, err := f.query()
	if err != nil {
		return err
	}
	name := ""
	if len(args) > 0 {
		if name, err = parseJob(args); err != nil {
			return err
		}
	}
	src, live, err := f.source.open(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.watch && !live {
		return usage("-w: no controller writes the log in %s now, so no record would follow; leave it out, or name a running controller with --server", f.source.log)
	}
	var stream *events.Stream
	if name != "" {
		s, err := c.findJob(ctx, src, orDefault(f.namespace), name)
		if err != nil {
			return err
		}
		stream, chosen.Namespace, chosen.Stream = &s, "", &s
	}
	p := newPrinter(c, f.output.format, history.NamesOf(ctx, src))
	if f.watch {
		p.live(chosen.Kinds)
	}
	l := &listing{src: src, chosen: chosen, printer: p}
	if err := l.history(ctx); err != nil {
		_ = p.flush() // what was read before stands
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	if f.watch {
		return l.follow(ctx)
	}
	if l.shown == 0 {
		return c.nothing(ctx, src, stream, name)
	}
	if l.more {
		fmt.Fprintf(c.err, "note: there may be more than these %d records: --from %d goes on\n", l.shown, l.last+1)
	}
	return nil
}

// listing shows the records of the log or of one stream that are wanted.
type listing struct {
	src     history.Source
	chosen  history.Query
	printer *printer
	next    events.Sequence // after the last record that is history
	last    events.Sequence // that was shown
	shown   int
	more    bool // the limit was reached, and not the end
}

// history shows what there is.
func (l *listing) history(ctx context.Context) error {
	_, head, err := l.src.Head(ctx)
	if err != nil {
		return err
	}
	l.next = max(l.chosen.From, head.Sequence+1)
	for r, err := range l.src.Records(ctx, l.chosen) {
		if err != nil {
			return err
		}
		if r.Sequence >= l.next {
			return nil // written meanwhile: follow has it
		}
		l.printer.names.Learn(&r)
		if err := l.show(&r); err != nil {
			return err
		}
	}
	l.more = l.shown > 0 && l.shown == l.chosen.Limit && l.last < head.Sequence
	return nil
}

// follow shows what comes, as it comes, until ctx ends.
func (l *listing) follow(ctx context.Context) error {
	for r, err := range l.src.Follow(ctx, l.next) {
		if err != nil {
			return err
		}
		if l.chosen.Stream != nil && r.Stream != *l.chosen.Stream {
			continue
		}
		l.printer.names.Learn(&r)
		if !l.chosen.Wants(&r, l.printer.names) {
			l.printer.names.Forget(&r)
			continue
		}
		if err := l.show(&r); err != nil {
			return err
		}
		if err := l.printer.flush(); err != nil {
			return err
		}
	}
	return nil
}

// show shows a record that the names have learnt of.
func (l *listing) show(r *events.Record) error {
	defer l.printer.names.Forget(r)
	l.shown, l.last = l.shown+1, r.Sequence
	return l.printer.record(r)
}

// nothing says why nothing was shown: a Job that the log does not know is a failure, a filter that nothing passes is not.
func (c *cli) nothing(ctx context.Context, src history.Source, stream *events.Stream, name string) error {
	if stream != nil {
		any := false
		for _, err := range src.ReadStream(ctx, *stream, 0, store.Forward) {
			any = err == nil
			break
		}
		if !any {
			return fmt.Errorf("the log knows no job/%s", name)
		}
	}
	fmt.Fprintln(c.err, "No records found.")
	return nil
}

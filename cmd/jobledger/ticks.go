package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// cronFlags say which CronJob is read, and how it is shown.
type cronFlags struct {
	job    jobFlags // its namespace is that of the CronJob
	output outputFlag
}

func (f *cronFlags) add(cmd *cobra.Command, c *cli) {
	f.job.add(cmd, c, "namespace of the CronJob (\"default\")")
	f.output.addFormats(cmd, formatTable, formatJSON, formatYAML)
	cmd.ValidArgsFunction = c.completeCronJobs(&f.job)
}

// find finds the CronJob that is meant. The source is closed by the caller, unless it is nil.
func (f *cronFlags) find(ctx context.Context, c *cli, args []string) (src history.Source, s events.Stream, err error) {
	src, streams, _, err := f.findAll(ctx, c, args)
	if err != nil {
		return src, s, err
	}
	c.finder(src).NoteOlder(streams[1:])
	return src, streams[0], nil
}

// findAll finds all CronJobs that bore the name that is meant, the newest first, and that name. The source is closed by the caller, unless it
// is nil.
func (f *cronFlags) findAll(ctx context.Context, c *cli, args []string) (src history.Source, lives []events.Stream, name string, err error) {
	h, err := f.job.object(args)
	if err != nil {
		return nil, nil, "", err
	}
	if err := which.WantCronJob(args, h); err != nil {
		return nil, nil, "", err
	}
	if err := f.output.validate(); err != nil {
		return nil, nil, "", err
	}
	src, _, err = f.job.source.open(ctx, c)
	if err != nil {
		return nil, nil, "", err
	}
	lives, name, err = c.finder(src).CronJobsOf(ctx, f.job.place(), h)
	return src, lives, name, err
}

// ticksFlags choose due times.
type ticksFlags struct {
	cronFlags
	at     pointFlag
	span   spanFlags
	tail   int
	missed bool
}

// usualTicks are shown unless another number is asked for: a CronJob of each minute has half a million in a year.
const usualTicks = 500

func newTicks(c *cli) *cobra.Command {
	var f ticksFlags
	cmd := &cobra.Command{
		Use:   "ticks [NAMESPACE/]NAME | ticks cronjob/NAME",
		Short: "Show what became of each due time of a CronJob",
		Long: `Show what became of each due time of a CronJob, in order: started (with the Job, and how late), merged
into a later one, too late, refused, lost, missed while no controller watched, or dropped. Why stands
behind it where the log proves it. Due times that had the same fate in a row are one line. The last line
is the one that is open, with what holds it back. Jobs that users made by hand, or asked for, have lines
of their own.

Times are in UTC, or with --local in the time zone of this machine. The number is that of the record
that says so: 'jobledger events --from N --limit 1'.

NAME alone is a CronJob, or a Job or a pod that one made: then it is that CronJob. What is not in the
namespace and in one other is taken there, unless -n or NAMESPACE/NAME says where.

The last 500 lines are shown, or --tail. --missed leaves out what was started. Of several CronJobs that
bore the name it is the newest, or with --at the newest that there was then; a UID names one of them.`,
		Example: `  jobledger ticks cronjob/nightly --log DIR -n batch
  jobledger ticks cronjob/nightly --log DIR -n batch --at 2026-01-02T15:04    as it was then
  jobledger ticks cronjob/nightly --log DIR -n batch --missed --since 7d`,
		Args: oneCronJobArg,
		RunE: func(cmd *cobra.Command, args []string) error { return c.ticks(cmd.Context(), &f, args) },
	}
	f.add(cmd, c)
	f.output.addLocal(cmd)
	f.at.add(cmd, "the answer")
	f.span.addSince(cmd, "only due times from this time on")
	cmd.Flags().IntVar(&f.tail, "tail", usualTicks, "only the last so many lines; 0 for all")
	cmd.Flags().BoolVar(&f.missed, "missed", false, "only due times for which no Job was started")
	return cmd
}

// oneCronJobArg is for commands that take one CronJob.
func oneCronJobArg(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("say which CronJob: cronjob/NAME")
	}
	return atMost(2, args)
}

// ticksOf is the value that is shown. Its JSON changes only by growing.
type ticksOf struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	UID       string           `json:"uid"`
	Items     []history.Tick   `json:"items"`
	Due       *history.OpenDue `json:"due,omitempty"` // the due time that has no fate yet
	// Earlier reports that there are due times before the first item that are not shown.
	Earlier bool `json:"earlier,omitempty"`
	// PassedOver are times from the first item on in which the CronJob's namespace was over its budget of log: Jobs may have come and gone
	// without a record.
	PassedOver []history.Passed `json:"passedOver,omitempty"`
	// Unrecorded are versions of the CronJob and its Jobs of then that were seen and not recorded.
	Unrecorded uint64 `json:"unrecordedVersions,omitempty"`
	// OtherLives are the other CronJobs that bore the name, the newest first.
	OtherLives []which.Life `json:"otherLives,omitempty"`

	entries []tickOf // of Items
}

func (c *cli) ticks(ctx context.Context, f *ticksFlags, args []string) error {
	if err := notNegative("tail", f.tail); err != nil {
		return err
	}
	if err := cmp.Or(f.at.parse(f.output.zone()), f.span.parse(f.output.zone())); err != nil {
		return err
	}
	src, lives, name, err := f.findAll(ctx, c, args)
	if src != nil {
		defer src.Close()
	}
	if err != nil {
		return err
	}
	since, _, err := f.span.span(ctx, c, src)
	if err != nil {
		return err
	}
	stream, through, now, err := f.life(ctx, c, src, lives, name)
	if err != nil {
		return err
	}
	parts, unread := f.read(ctx, src, stream, since, through, now)
	if unread != nil && !src.Beside(unread) || len(parts) == 0 {
		return unread
	}
	answer := f.chosen(parts, since)
	if err := answer.why(ctx, src, f.output.zone()); err != nil {
		return err
	}
	if len(answer.Items) == 0 && answer.Due == nil {
		if unread != nil {
			return unread // no answer, which is not the same as no due time
		}
		if answer.UID == "" {
			return fmt.Errorf("the log knows no %s", words.Clean(stream.String()))
		}
	}
	if err := answer.missing(ctx, src, parts, since); err != nil {
		return err
	}
	c.finder(src).NoteLives(ctx, stream, answer.Namespace, answer.Name)
	if f.output.document() {
		answer.OtherLives = c.finder(src).Lives(ctx, stream, answer.Namespace, answer.Name)
		return errors.Join(c.value(&f.output, answer), unread)
	}
	return errors.Join(c.showTicks(f, answer), unread)
}

// life is the CronJob that is meant, and as of what: the record and the time of --at, or the end (0).
func (f *ticksFlags) life(
	ctx context.Context, c *cli, src history.Source, lives []events.Stream, name string,
) (s events.Stream, through events.Sequence, now events.Time, err error) {
	if !f.at.given() {
		return lives[0], 0, 0, nil
	}
	at, err := f.at.point(ctx, c, src)
	if err != nil {
		return s, 0, 0, err
	}
	s, job, err := c.finder(src).LifeAt(ctx, lives, name, at)
	if job.UID == "" {
		return s, 0, 0, err
	}
	return s, events.Sequence(job.AsOf.Sequence), events.Time(job.AsOf.Time), nil // what cannot be read is met again
}

func (c *cli) showTicks(f *ticksFlags, answer *ticksOf) error {
	page := c.page(&f.output)
	table := show.Table{Out: c.out, Head: []string{"DUE (UTC)", "TIMES", "RECORD", "JOB", "FATE"}, Width: c.rowWidth(), Whole: c.piped(), Fold: true, Colour: c.colour()}
	if f.output.local {
		table.Head[0] = "DUE"
	}
	for i := range answer.Items {
		table.Row(page.TickCells(&answer.Items[i])...)
	}
	if answer.Due != nil {
		table.Row(page.OpenCells(answer.Due)...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	switch {
	case answer.Earlier:
		fmt.Fprintf(c.err, "note: there are earlier ones: --tail 0 shows all\n")
	case len(answer.Items) == 0 && answer.Due == nil:
		fmt.Fprintln(c.err, "No due times found.")
	}
	c.tellMissing(answer, f.output.zone())
	return nil
}

// missing finds what may be missing from the first due time on that is shown, as it was passed over.
func (a *ticksOf) missing(ctx context.Context, src history.Source, parts []*duetimes.CronJob, since events.Time) error {
	if len(a.Items) > 0 {
		since = max(since, events.Time(a.Items[0].First))
	}
	passed, err := history.PassedSince(ctx, src, since)
	if err != nil && !src.Beside(err) {
		return fmt.Errorf("look for what was passed over: %w", err)
	}
	a.PassedOver = passed.Touching(a.Namespace, false, since, 0)
	for _, part := range parts {
		for _, u := range part.Unrecorded {
			if u.At >= since {
				a.Unrecorded += u.Versions
			}
		}
	}
	return nil
}

// tellMissing says what may be missing in a list of due times.
func (c *cli) tellMissing(a *ticksOf, zone words.Zone) {
	c.noteTimes(a.PassedOver, zone)
	if a.Unrecorded > 0 {
		fmt.Fprintf(c.err, "note: %s of the CronJob and its Jobs not recorded: too many in a short time\n",
			words.Count(int(min(a.Unrecorded, math.MaxInt)), "version"))
	}
	if len(a.PassedOver) > 0 || a.Unrecorded > 0 {
		fmt.Fprintln(c.err, "note: a due time without a Job may have had one then")
	}
}

// read reads as much of the CronJob as is wanted, through a record, as of a time, or to the end (0). Where that is damaged, it reads all that can
// be read, in parts.
func (f *ticksFlags) read(
	ctx context.Context, src history.Source, s events.Stream, since events.Time, through events.Sequence, now events.Time,
) ([]*duetimes.CronJob, error) {
	var cronJob *duetimes.CronJob
	var err error
	switch {
	case through != 0:
		from := events.Sequence(0)
		if f.tail > 0 && !f.missed && since == 0 {
			if from, err = duetimes.Before(ctx, src, s, f.tail+1, through); err != nil && !src.Beside(err) {
				return nil, err
			}
		}
		cronJob, unread := duetimes.ReadSpan(ctx, src, s, duetimes.Span{From: from, Through: through, Now: now})
		if cronJob == nil {
			return nil, errors.Join(err, unread)
		}
		return []*duetimes.CronJob{cronJob}, errors.Join(err, unread)
	case f.tail > 0 && !f.missed && since == 0:
		cronJob, err = duetimes.Newest(ctx, src, s, f.tail+1)
	case since != 0:
		cronJob, err = duetimes.Since(ctx, src, s, since)
	default:
		return duetimes.Parts(ctx, src, s)
	}
	if src.Beside(err) {
		return duetimes.Parts(ctx, src, s)
	}
	return []*duetimes.CronJob{cronJob}, err
}

// tickOf is a due time that is shown, and the CronJob of which it is.
type tickOf struct {
	of *duetimes.CronJob
	*duetimes.Entry
}

// chosen are the due times that are wanted. What the CronJob is now stands in the last part.
func (f *ticksFlags) chosen(parts []*duetimes.CronJob, since events.Time) *ticksOf {
	out := &ticksOf{Items: []history.Tick{}}
	for _, part := range parts {
		if part.Ref.Name != "" {
			out.Namespace, out.Name, out.UID = part.Ref.Namespace, part.Ref.Name, string(part.Ref.UID)
		}
		told, untold := part.Entries, part.Untold()
		for i := range told {
			out.entries = append(out.entries, tickOf{part, &told[i]})
		}
		for i := range untold {
			if untold[i].Fate != 0 {
				out.entries = append(out.entries, tickOf{part, &untold[i]})
			}
		}
		out.Due = part.Open()
		if part.Cut {
			out.Due = nil
		}
	}
	out.entries = slices.DeleteFunc(out.entries, func(e tickOf) bool { return e.Last < since || f.missed && e.Job != "" })
	if f.tail > 0 && len(out.entries) > f.tail {
		out.entries, out.Earlier = out.entries[len(out.entries)-f.tail:], true
	}
	for _, e := range out.entries {
		item := history.TickOf(&e.Tick, e.Record)
		if n, ok := e.of.Count(e.Entry); ok {
			item.Count = n
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// mostWhy bounds of how many due times it is looked for why they fared so: the newest. Each costs a look at all that held the CronJob back.
const mostWhy = 5_000

// why says of due times what kept them from starting.
func (a *ticksOf) why(ctx context.Context, src history.Source, zone words.Zone) error {
	gaps, err := history.AllGaps(ctx, src)
	if err != nil && !src.Beside(err) {
		return fmt.Errorf("look for times in which no controller watched: %w", err)
	}
	for i := max(0, len(a.entries)-mostWhy); i < len(a.entries); i++ {
		a.Items[i].Why = explain.TickWhy(a.entries[i].of, a.entries[i].Entry, gaps, zone)
	}
	return nil
}

// instant is a due time for people, in UTC. Most are whole minutes.
func instant(t time.Time) string { return show.DueText(t.UTC()) }

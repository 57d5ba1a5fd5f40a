package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/serve"
	"github.com/jobledger/jobledger/internal/show"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store"
)

// replayFlags choose what is replayed.
type replayFlags struct {
	source    sourceFlags
	job       string
	namespace string
}

func newReplay(c *cli) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Decide again from the log, and report the first difference",
		Long: `Make every decision again from the records that led to it and compare it with the recorded one, byte
for byte. A decision that should have been made and was not is a difference too.

The last line is "replay: R records, D decisions, N divergences". With differences the first is
shown, both sides, and the exit code is 1. Decisions by another version of the rules are counted
apart; they are not compared.`,
		Example: `  jobledger replay --log DIR
  jobledger replay --log DIR --job demo -n batch`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.replay(cmd.Context(), &f) },
	}
	f.source.add(cmd)
	cmd.Flags().StringVar(&f.job, "job", "", "only this Job: its name or UID")
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "where the Job is (\"default\")")
	return cmd
}

func (c *cli) replay(ctx context.Context, f *replayFlags) error {
	if f.namespace != "" && f.job == "" {
		return usage("-n goes with --job NAME: a replay is of the whole log, or of one Job")
	}
	name := f.job
	if strings.Contains(name, "/") {
		var err error
		if name, err = parseJob([]string{name}); err != nil {
			return err
		}
	}
	src, _, err := f.source.open(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	_, head, err := src.Head(ctx)
	if err != nil {
		return err
	}
	feed := &feed{replay: replay.New()}
	if name != "" {
		stream, err := c.findJob(ctx, src, orDefault(f.namespace), name)
		if err != nil {
			return err
		}
		feed.only = &stream
	}
	progress := newProgress(c.err, "replay", uint64(head.Sequence))
	defer progress.clear()
	var first *replay.Divergence
	var ended error // why it cannot be read to its end
	for r, err := range src.Read(ctx, 0) {
		if errors.Is(err, store.ErrCorrupt) {
			ended = err
			break
		}
		if err != nil {
			return err
		}
		found, err := feed.record(r)
		if err != nil {
			return err
		}
		if len(found) > 0 && first == nil {
			first = &found[0]
		}
		progress.at(uint64(r.Sequence))
	}
	progress.clear()
	s := feed.replay.Summary()
	if first != nil {
		c.difference(ctx, src, first)
	}
	if s.OtherRules > 0 {
		fmt.Fprintf(c.out, "%d decisions by other versions of the rules were not compared\n", s.OtherRules)
	}
	so := ""
	if ended != nil {
		so = ", as far as the log can be read"
	}
	fmt.Fprintf(c.out, "replay: %d records, %d decisions, %d divergences%s\n", s.Records, s.Decisions, s.Divergences, so)
	if ended != nil {
		return ended
	}
	if s.Divergences > 0 {
		return errTold
	}
	return nil
}

// feed hands records to a replay: all of them, or the part of each batch that one Job's decisions depend on, which is its
// own stream, the controller's, and the contents of specs, which Jobs share.
type feed struct {
	replay *replay.Replay
	only   *events.Stream // nil for all
	held   *events.Record // the last kept record of a batch bears the end mark, so one waits until it is known
}

func (f *feed) record(r events.Record) ([]replay.Divergence, error) {
	if f.only == nil {
		return f.replay.Record(r)
	}
	end := r.Last
	var found []replay.Divergence
	if r.Stream == *f.only || r.Stream == events.Controller || r.Kind == events.KindSpecStored || r.Kind == events.KindPoliciesStored {
		if f.held != nil {
			d, err := f.replay.Record(*f.held)
			if err != nil {
				return nil, err
			}
			found = d
		}
		r.Last = false
		f.held = &r
	}
	if end && f.held != nil {
		last := *f.held
		last.Last, f.held = true, nil
		d, err := f.replay.Record(last)
		return append(found, d...), err
	}
	return found, nil
}

// difference shows both sides of a divergence.
func (c *cli) difference(ctx context.Context, src serve.Source, d *replay.Divergence) {
	names := serve.NamesOf(ctx, src)
	job := names.Job(d.Stream)
	fmt.Fprintf(c.out, "first difference: record %d, job %s/%s (%s)\n", d.Sequence, show.Clean(job.Namespace), show.Clean(job.Name), d.Stream)
	if d.Why != "" {
		fmt.Fprintf(c.out, "  why:      %s\n", d.Why)
	}
	fmt.Fprintf(c.out, "  recorded: %s\n  replayed: %s\n", side(d.Recorded), side(d.Decided))
	if side(d.Recorded) == side(d.Decided) { // the difference is in what the sentences leave out
		fmt.Fprintf(c.out, "  recorded: %s\n  replayed: %s\n", show.Facts(d.Recorded), show.Facts(d.Decided))
	}
}

// side says what a decision asks for, command by command.
func side(d *events.Decision) string {
	if d == nil {
		return "nothing"
	}
	var parts []string
	for _, s := range d.Steps {
		for _, command := range s.Commands {
			parts = append(parts, fmt.Sprintf("%s (%s)", events.Describe(command), s.Reason))
		}
	}
	if len(parts) > 10 {
		parts = append(parts[:10], fmt.Sprintf("and %d more", len(parts)-10))
	}
	return show.Clean(strings.Join(parts, "; "))
}

// progress shows on a terminal how far something has come, once it takes longer than a second.
type progress struct {
	out   io.Writer
	what  string
	total uint64
	began time.Time
	told  time.Time
}

func newProgress(out io.Writer, what string, total uint64) *progress {
	if _, ok := terminal(out); !ok {
		return &progress{}
	}
	return &progress{out: out, what: what, total: max(total, 1), began: time.Now()}
}

func (p *progress) at(n uint64) {
	if p.out == nil || n%1024 != 0 {
		return
	}
	p.show(n)
}

func (p *progress) show(n uint64) {
	if now := time.Now(); p.out != nil && now.Sub(p.began) > time.Second && now.Sub(p.told) > 200*time.Millisecond {
		p.told = now
		fmt.Fprintf(p.out, "\r%s: %d of %d (%d %%)", p.what, n, p.total, 100*n/p.total)
	}
}

// clear takes the line off the terminal.
func (p *progress) clear() {
	if p.out != nil && !p.told.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.told = time.Time{}
	}
}

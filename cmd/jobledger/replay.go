package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// replayFlags are the flags of replay, which makes the decisions in a log again and compares them.
type replayFlags struct {
	cli.JobFlags
	job    string
	strict bool
}

func newReplay(c *cli.CLI) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Decide again from the log, and report the first difference",
		Long: `Make every decision again from the records before it, and compare it with the recorded one, byte for
byte. It is also a difference when a decision should have been made and was not, or when a recorded
state, or a state of the snapshot, is not what the records before it give. With --log, the whole log
is verified first, as by "jobledger verify".

The last line is "replay: R records, D decisions, N divergences". After a difference both sides of
the first one are shown, and the exit code is 1. Decisions by another version of the rules are
compared too. Their differences are counted on a line of their own, and are a failure only with
--strict. A decision must be by the version of the rules with which its controller started. What was
not checked is said.`,
		Example: `  jobledger replay --log DIR
  jobledger replay --log DIR --job demo -n batch`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runReplay(cmd.Context(), c, &f) },
	}
	f.Add(cmd, c, "where the Job is (\"default\")")
	cmd.Flags().StringVar(&f.job, "job", "", "only this Job: its name (or NAMESPACE/NAME), its UID or how that begins, or a pod of it")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "fail also when these rules decide otherwise than other versions of them did")
	cli.CompleteJobFlag(c, cmd, "job", &f.JobFlags)
	return cmd
}

// one returns the Job to replay; the zero Object for the whole log.
func (f *replayFlags) one() (one which.Object, err error) {
	if f.Namespace != "" && f.job == "" {
		return one, cli.Usage("-n goes with --job NAME: a replay is of the whole log, or of one Job")
	}
	if !strings.Contains(f.job, "/") {
		return which.Object{Name: f.job}, nil
	}
	if one, err = f.Object([]string{f.job}); err == nil {
		err = which.WantJob([]string{f.job}, one)
	}
	if one.Kind == which.Any {
		one.Kind = which.Job // without a kind it is a Job: a CronJob alone cannot be replayed
	}
	return one, err
}

// playRecords replays the records: it makes the decisions again, and compares them. It returns the first difference
// (divergence). If damage of the log ends the records early, ended is that damage. err is any other error.
func playRecords(player *replay.Replay, records iter.Seq2[events.Record, error], progress *cli.Progress) (first *replay.Divergence, ended, err error) {
	for r, err := range records {
		if errors.Is(err, store.ErrCorrupt) {
			return first, err, nil
		}
		if err != nil {
			return first, nil, err
		}
		found, err := player.Record(r)
		if errors.Is(err, replay.ErrUnfounded) {
			return first, err, nil
		}
		if err != nil {
			return first, nil, err
		}
		if len(found) > 0 && first == nil {
			first = &found[0]
		}
		progress.At(uint64(r.Sequence))
	}
	return first, nil, nil
}

func runReplay(ctx context.Context, c *cli.CLI, f *replayFlags) error {
	one, err := f.one()
	if err != nil {
		return err
	}
	src, _, err := f.Source.OpenToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	_, head, err := src.Head(ctx)
	if err != nil {
		return err
	}
	player := replay.New()
	unchecked, err := verifyFirst(ctx, c, f, src, f.job != "", player)
	if err != nil {
		return err
	}
	records := src.Read(ctx, 0)
	if f.job != "" {
		stream, err := f.Find(ctx, c, src, one)
		if err != nil {
			return err
		}
		records = oneJob(ctx, src, stream, player)
	}
	progress := cli.NewProgress(c.Err, "replay", uint64(head.Sequence))
	defer progress.Clear()
	first, ended, err := playRecords(player, records, progress)
	if err != nil {
		return err
	}
	progress.Clear()
	s := player.Summary()
	if first != nil {
		tellDifference(ctx, c, src, first)
	}
	tellReplayed(c, s, unchecked)
	if ended != nil {
		fmt.Fprintf(c.Out, "replay: %d records, %d decisions, %d divergences, as far as the log can be read\n", s.Records, s.Decisions, s.Divergences)
		return ended
	}
	fmt.Fprintf(c.Out, "replay: %d records, %d decisions, %d divergences\n", s.Records, s.Decisions, s.Divergences)
	if s.Divergences > 0 || f.strict && s.Otherwise > 0 {
		return cli.ErrTold
	}
	return nil
}

// verifyFirst verifies the whole log, if this process can read it, and gives its snapshot (stored state) to the replay
// r, which compares it. It returns what is not checked.
func verifyFirst(ctx context.Context, c *cli.CLI, f *replayFlags, src history.Source, oneJob bool, r *replay.Replay) (unchecked []string, err error) {
	unchecked = []string{"the causes of records", "names, messages and sentences"}
	if oneJob {
		r.Partly()
		return append(unchecked, "the chain, stored states, snapshot, lists of Jobs (a replay of the whole log does)"), nil
	}
	if f.Source.Log == "" {
		return append(unchecked, "the chain, the snapshot and lists of Jobs (with --log DIR they are)"), nil
	}
	report, err := open.Verify(ctx, f.Source.Log, nil)
	switch {
	case errors.Is(err, store.ErrCorrupt):
		for _, damage := range report.Damage {
			c.Met.Tell(damage)
			if !c.Damaged { // damage that was found earlier was printed then
				fmt.Fprintf(c.Err, "damage: %s\n", words.Clean(damage.Error()))
			}
		}
		c.Damaged = true
	case err != nil:
		return nil, err
	}
	if report.Written != 0 {
		unchecked = append(unchecked, fmt.Sprintf("the chain from record %d on, which a controller writes", report.Written))
	}
	own, is := src.(cli.Local)
	if !is {
		return append(unchecked, "the snapshot and the lists of Jobs of a log that is in use"), nil
	}
	if err := replayLists(ctx, c, own.Log, f.Source.Log); err != nil {
		return nil, err
	}
	snapshot, ok, err := own.Log.LoadSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	if ok {
		var streams []projector.StreamAt
		for _, s := range snapshot.Streams {
			streams = append(streams, projector.StreamAt{Stream: s.Stream, AsOf: s.AsOf, Facts: s.State, Names: s.Names})
		}
		r.Expect(streams)
	}
	return unchecked, nil
}

// replayLists compares the stored lists of Jobs with the log's records.
func replayLists(ctx context.Context, c *cli.CLI, log store.Archive, dir string) error {
	if cli.ListsDir(dir) == "" {
		return nil // a log without a directory has no lists
	}
	checked, err := checkLists(ctx, log, dir)
	for _, note := range checked.Notes {
		fmt.Fprintf(c.Err, "note: %s\n", words.Clean(note))
	}
	for _, wrong := range checked.Wrong {
		fmt.Fprintf(c.Err, "damage: %s\n", words.Clean(wrong.Error()))
		c.Damaged = true
	}
	return err
}

// tellReplayed prints what the replay has compared, and what it did not check.
func tellReplayed(c *cli.CLI, s replay.Summary, unchecked []string) {
	if s.OtherRules > 0 {
		fmt.Fprintf(c.Out, "%d decisions are by other versions of the rules; these rules decide %d of them otherwise\n", s.OtherRules, s.Otherwise)
	}
	if s.OtherStates > 0 {
		unchecked = append(unchecked, fmt.Sprintf("%d stored states by other versions of the program", s.OtherStates))
	}
	if s.LostStates > 0 {
		unchecked = append(unchecked, cli.Counted(int(s.LostStates), "state in the snapshot, whose records are pruned",
			"states in the snapshot, whose records are pruned"))
	}
	if s.Early > 0 {
		unchecked = append(unchecked, cli.Counted(int(s.Early), "decision, which is older than the kept state of its Job",
			"decisions, which are older than the kept states of their Jobs"))
	}
	if s.States > 0 {
		fmt.Fprintf(c.Out, "%s compared with the records before\n", cli.Counted(int(s.States), "stored state was", "stored states were"))
	}
	const label = "not checked: "
	text := label + strings.Join(unchecked, "; ")
	if len(text) > cli.TableWidth {
		text = label + strings.Join(unchecked, ";\n"+strings.Repeat(" ", len(label)))
	}
	fmt.Fprintln(c.Out, text)
}

// tellDifference prints both sides of a difference: the recorded decision, and the one that the replay made.
func tellDifference(ctx context.Context, c *cli.CLI, src history.Source, d *replay.Divergence) {
	names := history.NamesOf(ctx, src)
	job := names.Job(d.Stream)
	fmt.Fprintf(c.Out, "first difference: record %d, job %s/%s (%s)\n", d.Sequence, words.Clean(job.Namespace), words.Clean(job.Name), d.Stream)
	if d.Fields != nil {
		fmt.Fprintf(c.Out, "  %s\n  fields:   %s\n", d.Why, strings.Join(d.Fields, ", "))
		return
	}
	if d.Why != "" {
		fmt.Fprintf(c.Out, "  why:      %s\n", d.Why)
	}
	fmt.Fprintf(c.Out, "  recorded: %s\n  replayed: %s\n", side(d.Recorded), side(d.Decided))
	if side(d.Recorded) == side(d.Decided) { // if both texts are the same, print all fields
		fmt.Fprintf(c.Out, "  recorded: %s\n  replayed: %s\n", recordjson.Facts(d.Recorded), recordjson.Facts(d.Decided))
	}
}

// side returns the commands of a decision as text, to compare two decisions.
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
	return words.Clean(strings.Join(parts, "; "))
}

package acting

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/open"
)

// restoreFlags are the flags of restore: which copy to restore, and where to.
type restoreFlags struct {
	from, log, manifest string
	at                  string
	through             uint64
	all, withoutKey     bool
	dryRun              bool
}

func newRestore(c *cli.CLI) *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Make a log of a copy",
		Long: `Make a log of a copy that 'jobledger backup' made, in an empty directory. Each object is compared with
the manifest as it comes, and each record with the chain. Until all is there nothing opens the
directory as a log; when this ends early, run it again, and it goes on.

An object that is damaged or missing is named, with the record up to which the log can be had without
it: --through SEQ. What can be made again (indexes, lists of Jobs) is left out with a note.

--at SEQ or --at TIME gives the log as it was then, by whole batches. A log that ends before the copy
says so beside itself: 'verify' and all readers name the record that it had, and a controller goes on
with it only under another epoch (run --force-new-epoch). The last line is the command to go on with.

Files that the log did not keep any more when it was copied come with --all: to be read. A controller
that goes on with the log deletes them, as its log says that they are gone.
--dry-run says what would come, and looks whether each object is there.

` + placeHelp,
		Example: `  jobledger restore --from /mnt/backup/jobledger --log DIR
  jobledger restore --from s3://backups/jobledger --log DIR --at 2026-03-14T02:00:00Z
  jobledger restore --from /mnt/backup/jobledger --log DIR --dry-run`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRestore(cmd.Context(), c, &f) },
	}
	cmd.Flags().StringVar(&f.from, "from", "", "place of the copy: a directory, or s3://BUCKET/PREFIX")
	cmd.Flags().Var((*cli.LogAddress)(&f.log), "log", "directory to restore into; empty, or not there")
	cmd.Flags().StringVar(&f.at, "at", "", "the log as of a record's sequence (41), a time (2026-01-02T15:04:05Z or 15:04:05), or 5m ago (5m)")
	cmd.Flags().Uint64Var(&f.through, "through", 0, "the log up to that record: without what is damaged behind it")
	cmd.Flags().StringVar(&f.manifest, "manifest", "", "an earlier manifest, such as manifests/00000000000000041999-1")
	cmd.Flags().BoolVar(&f.all, "all", false, "also the files that the log did not keep any more")
	cmd.Flags().BoolVar(&f.withoutKey, "without-key", false, "leave the key out that the copy has")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would come, and write nothing")
	if err := cmd.MarkFlagDirname("log"); err != nil {
		panic(err) // a bug: it fails only if there is no such flag
	}
	return cmd
}

// config returns which copy to restore and where to, as the flags say, or a usage error.
func (f *restoreFlags) config(c *cli.CLI) (*restore.Config, error) {
	place, err := placeOf(c.Getenv, "from", f.from)
	if err != nil {
		return nil, err
	}
	if f.log == "" {
		return nil, cli.Usage("say where to restore to: --log DIR")
	}
	dir, err := open.Dir(f.log)
	if err != nil {
		return nil, err
	}
	if f.at != "" && f.through != 0 {
		return nil, cli.Usage("--at and --through name two ends: give one of them")
	}
	config := &restore.Config{
		Place: place, Dir: dir, Manifest: f.manifest, Through: events.Sequence(f.through), All: f.all, WithoutKey: f.withoutKey,
	}
	if f.at != "" {
		if config.Through, config.At, err = pointOf(f.at, time.Now()); err != nil {
			return nil, err
		}
	}
	return config, nil
}

// pointOf parses the value of --at: a record's number (sequence), or a time.
func pointOf(text string, now time.Time) (events.Sequence, events.Time, error) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
		return events.Sequence(n), 0, nil
	}
	w, ok := which.ParseWhen(text, words.Zone{})
	if !ok {
		return 0, 0, cli.Usage("--at %q: must be a record's sequence, such as 41, a time, such as 2026-01-02T15:04:05Z or 15:04:05, or how long ago, such as 5m", text)
	}
	return 0, w.Point(now, events.At(now)), nil
}

func runRestore(ctx context.Context, c *cli.CLI, f *restoreFlags) error {
	config, err := f.config(c)
	if err != nil {
		return err
	}
	progress := cli.NewProgress(c.Err, "restore", 0)
	config.Tell = func(_ string, done, total int64) {
		progress.Total = uint64(max(total, 1))
		progress.Show(uint64(done))
	}
	plan, err := restore.Make(ctx, config)
	if err != nil {
		return fmt.Errorf("restore: %s", words.Clean(err.Error()))
	}
	tellPlan(c, plan)
	if f.dryRun {
		if err := plan.Check(ctx); err != nil {
			return fmt.Errorf("restore: %s", words.Clean(err.Error()))
		}
		fmt.Fprintf(c.Out, "restore: all objects are there; nothing was written\n")
		return nil
	}
	result, err := plan.Run(ctx)
	progress.Clear()
	if err != nil {
		return fmt.Errorf("restore: %s", words.Clean(err.Error()))
	}
	for _, note := range result.Notes {
		fmt.Fprintf(c.Out, "note: %s\n", words.Clean(note))
	}
	fmt.Fprintf(c.Out, "restore: log %s, records %d to %d, head %d %s, in %s; every object and record was compared with the manifest\n", result.Identity,
		result.First, result.Head.Sequence, result.Head.Sequence, result.Head.Hash, config.Dir)
	tellNext(c, plan, result)
	return nil
}

// tellPlan prints what a restore will read from the copy.
func tellPlan(c *cli.CLI, p *restore.Plan) {
	m := p.Copy
	fmt.Fprintf(c.Out, "copy of log %s at %s: head %d, of %s; written at %s by %s\n", m.Identity, p.Place, m.Head.Sequence, m.Head.Time.Go().UTC().Format(time.RFC3339),
		m.Written.Go().UTC().Format(time.RFC3339), words.Clean(m.Writer))
	for _, h := range m.Holes {
		fmt.Fprintf(c.Out, "note: the copy does not have records %d to %d: they were gone before they could be copied\n", h.From, h.Through)
	}
	for _, f := range p.Files {
		fmt.Fprintf(c.Out, "%s, %d bytes, records %d to %d\n", f.Object.Name, f.Object.Bytes, f.First, f.End.Sequence)
	}
	if p.Cut != nil {
		fmt.Fprintf(c.Out, "%s, %d bytes, of records %d to %d those that are wanted\n", p.Cut.Object.Name, p.Cut.Object.Bytes, p.Cut.First, p.Cut.End.Sequence)
	}
	for _, t := range p.Sealed {
		tellSegments(c, t.Segments)
	}
	tellSegments(c, p.Segments())
	if p.Key != nil {
		fmt.Fprintln(c.Out, "the key of the log")
	}
	fmt.Fprintf(c.Out, "%d bytes are to come\n", p.Bytes)
}

func tellSegments(c *cli.CLI, segments []copylog.File) {
	bytes := int64(0)
	for _, s := range segments {
		bytes += s.Object.Bytes
	}
	if n := len(segments); n > 0 {
		fmt.Fprintf(c.Out, "%s, %d bytes, records %d to %d\n", cli.Counted(n, "segment", "segments"), bytes, segments[0].First, segments[n-1].End.Sequence)
	}
}

// longAgo is how much earlier than the copy a restored log must end for a warning: the cluster has changed since then.
const longAgo = time.Hour

// tellNext prints, at the end of the output, which command to run next.
func tellNext(c *cli.CLI, p *restore.Plan, result restore.Result) {
	if result.Short {
		if ago := p.Copy.Head.Time.Sub(result.Head.Time); ago > longAgo {
			fmt.Fprintf(c.Out, "note: it ends %s before the copy does. What the cluster has done since is not in it: a controller takes Jobs and pods as it finds"+
				" them, and tells of that time only what they show\n", words.Span(ago))
		}
		fmt.Fprintf(c.Out, "note: the copy has later records, up to %d; the log says so, and goes on under another epoch:\n", p.Copy.Head.Sequence)
		fmt.Fprintf(c.Out, "jobledger run --log %s --force-new-epoch=%d\n", p.Dir, p.Copy.Identity.Epoch+1)
		return
	}
	fmt.Fprintf(c.Out, "note: records behind %d that were not copied are lost; if there were any, the start finds it in the Lease, in pods or on the stream, and names"+
		" the flag to go on with\n", result.Head.Sequence)
	fmt.Fprintf(c.Out, "jobledger run --log %s\n", p.Dir)
}

package acting

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/beside"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// backupFlags are the flags of backup: what to copy, and where.
type backupFlags struct {
	log, to string
	withKey bool
	dryRun  bool
}

func newBackup(c *cli.CLI) *cobra.Command {
	var f backupFlags
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Copy a log to another place, also beside its controller",
		Long: `Copy a log to another place: a directory on another disk, or a bucket. A controller may write the log
meanwhile: its sealed files are read from the disk, and it is asked for the newest records, at the
address that it left in the directory. The log is not changed, and nothing is held up.

The second time only what is new goes: files that were sealed since, and the records behind those
that the copy has. Each record is checked before it goes, so damage is not copied. The copy is whole
at each moment: when this ends early, it stays as it was before, and the next time goes on.
The end is read back from the copy, and the last line has the head that it has.

A copy has one history. When the log ends before the copy, or went another way, nothing is written
and the exit code is 1. A log that went on under another epoch (run --force-new-epoch) goes on in the
copy, too. 'jobledger restore' makes a log of a copy.

The key of the log does not go along, unless --with-key says so. Without it a restored log is whole,
and its controller makes a new key. With it who reads the copy can try what the hashes in it are of.

` + placeHelp,
		Example: `  jobledger backup --log DIR --to /mnt/backup/jobledger
  jobledger backup --log DIR --to 's3://backups/jobledger?endpoint=https://minio:9000' --dry-run`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBackup(cmd.Context(), c, &f) },
	}
	cmd.Flags().Var((*cli.LogAddress)(&f.log), "log", "directory of the log ($JOBLEDGER_LOG)")
	cmd.Flags().StringVar(&f.to, "to", "", "place of the copy: a directory, or s3://BUCKET/PREFIX")
	cmd.Flags().BoolVar(&f.withKey, "with-key", false, "copy the key of the log, too")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would go, and put nothing")
	if err := cmd.MarkFlagDirname("log"); err != nil {
		panic(err) // a bug: it fails only if there is no such flag
	}
	return cmd
}

func runBackup(ctx context.Context, c *cli.CLI, f *backupFlags) error {
	if f.log == "" {
		f.log = c.Getenv(cli.EnvLog)
	}
	if f.log == "" {
		return cli.Usage("say which log: --log DIR (or $%s)", cli.EnvLog)
	}
	place, err := placeOf(c.Getenv, "to", f.to)
	if err != nil {
		return err
	}
	dir, err := open.Dir(f.log)
	if err != nil {
		return err
	}
	live, err := liveOf(ctx, c, f.log, dir)
	if err != nil {
		return err
	}
	verb := "put"
	if f.dryRun {
		verb = "would put"
	}
	result, err := backup.Run(ctx, &backup.Config{
		Dir: dir, Place: place, Live: live, WithKey: f.withKey, DryRun: f.dryRun, Writer: cli.ThisBuild().Version,
		Tell: func(s backup.Step) { fmt.Fprintln(c.Out, stepLine(verb, s)) },
	})
	if err != nil {
		return fmt.Errorf("backup: %s", words.Clean(err.Error()))
	}
	for _, h := range result.Holes {
		fmt.Fprintf(c.Out, "note: the copy does not have records %d to %d: they were gone before they could be copied\n", h.From, h.Through)
	}
	if result.Dropped != 0 {
		fmt.Fprintf(c.Out, "note: the copy had records up to %d of an earlier epoch that the log went on without; their manifest stays under manifests/\n", result.Dropped)
	}
	what := cli.Counted(result.Objects, "object", "objects")
	if f.dryRun {
		fmt.Fprintf(c.Out, "backup: %s would be put, %d bytes; log %s ends with record %d %s\n", what, result.Bytes, result.Identity, result.Head.Sequence,
			result.Head.Hash)
		return nil
	}
	if result.Objects == 0 {
		what = "nothing new"
	} else {
		what += fmt.Sprintf(", %d bytes", result.Bytes)
	}
	fmt.Fprintf(c.Out, "backup: %s; log %s, head %d %s, as read back from %s\n", what, result.Identity, result.Head.Sequence, result.Head.Hash, place)
	return nil
}

// liveOf returns a client of the controller that writes the log; nil if no process writes the log. dir is the log's
// directory.
func liveOf(ctx context.Context, c *cli.CLI, address, dir string) (beside.Live, error) {
	log, err := open.Archive(address)
	var held *store.HeldError
	switch {
	case err == nil:
		return nil, log.Close()
	case errors.As(err, &held):
		client, err := cli.Besides(ctx, dir, held)
		if err != nil {
			return nil, err
		}
		client.Damage = c.Met
		return client, nil
	}
	return nil, cli.ExplainOpen(dir, err)
}

// stepLine returns the line that backup prints about an object of the copy. verb says what was done with it.
func stepLine(verb string, s backup.Step) string {
	switch {
	case s.Deleted:
		return "deleted " + s.Name
	case s.There:
		verb = "found"
	}
	line := fmt.Sprintf("%s %s, %d bytes", verb, s.Name, s.Bytes)
	if s.First != 0 {
		line += fmt.Sprintf(", records %d to %d", s.First, s.Last)
	}
	return line
}

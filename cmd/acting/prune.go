package acting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/open"
)

// pruneFlags are the flags of prune: which log, and which records to delete.
type pruneFlags struct {
	log    string
	size   string
	age    time.Duration
	before uint64
	dryRun bool
}

func newPrune(c *cli.CLI) *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete the oldest files of a log that no controller writes",
		Long: `Delete the oldest files of a log. A controller does that by itself with --log-max-size and
--log-max-age; this is for a log that no controller writes.

Files go whole, and only when a later file states all that is known of every Job: no Job that is
unfinished or not deleted is lost. First the log records what goes: the records, their times, the
hash of each file, and what a consumer misses that has not got through them.

--max-size and --max-age are as for a controller: of a log that may have 10 GiB files go until it
has four fifths of that. --before SEQ lets files go that have only records before that one.
--dry-run changes nothing.`,
		Example: `  jobledger prune --log DIR --max-size=8Gi --dry-run
  jobledger prune --log DIR --max-age=2160h
  jobledger prune --log DIR --before 120000`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runPrune(cmd.Context(), c, &f) },
	}
	cmd.Flags().Var((*cli.LogAddress)(&f.log), "log", "directory of the log")
	cmd.Flags().StringVar(&f.size, "max-size", "0", "how large the files of the log may be together, such as 8Gi; 0 for any size")
	cmd.Flags().DurationVar(&f.age, "max-age", 0, "how old records may be, about, such as 2160h; 0 for any age")
	cmd.Flags().Uint64Var(&f.before, "before", 0, "files that have only records before this one go")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would go, and change nothing")
	if err := cmd.MarkFlagDirname("log"); err != nil {
		panic(err) // a bug: it fails only if there is no such flag
	}
	return cmd
}

// config returns which records to delete, as the flags say, or a usage error.
func (f *pruneFlags) config(c *cli.CLI) (*controller.PruneConfig, error) {
	size, err := resource.ParseQuantity(f.size)
	switch {
	case f.log == "":
		return nil, cli.Usage("say which log: --log DIR")
	case err != nil || size.Value() < 0:
		return nil, cli.Usage("--max-size=%s: a size such as 8Gi is wanted", f.size)
	case f.age < 0:
		return nil, cli.Usage("--max-age=%s: must be longer than nothing", f.age)
	case size.Value() == 0 && f.age == 0 && f.before == 0:
		return nil, cli.Usage("say what goes: --max-size, --max-age or --before")
	}
	return &controller.PruneConfig{
		Log: f.log, Version: cli.ThisBuild().Version, Logger: slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Retention: store.Retention{MaxBytes: size.Value(), MaxAge: f.age}, Before: events.Sequence(f.before),
	}, nil
}

func runPrune(ctx context.Context, c *cli.CLI, f *pruneFlags) error {
	config, err := f.config(c)
	if err != nil {
		return err
	}
	if exists, err := open.Exists(config.Log); err == nil && !exists {
		return fmt.Errorf("there is no log in %s", open.Place(config.Log))
	}
	files, keep, err := controller.WouldPrune(ctx, config)
	if held := (*store.HeldError)(nil); errors.As(err, &held) {
		return fmt.Errorf("%s: it prunes the log itself, with --%s and --%s", held.Holder(), controller.MaxSizeFlag, controller.MaxAgeFlag)
	}
	if err != nil {
		return err
	}
	if len(files) == 0 {
		fmt.Fprintf(c.Out, "prune: nothing goes; the log begins with record %d\n", keep)
		return nil
	}
	bytes := int64(0)
	for _, file := range files {
		fmt.Fprintf(c.Out, "records %d to %d, the last of %s, %d bytes\n", file.First, file.End.Sequence, file.End.Time.Go().UTC().Format(time.RFC3339), file.Bytes)
		bytes += file.Bytes
	}
	if f.dryRun {
		fmt.Fprintf(c.Out, "prune: records before %d would go: %s, %d bytes\n", keep, cli.Counted(len(files), "file", "files"), bytes)
		return nil
	}
	p, err := controller.Prune(ctx, config)
	if err != nil {
		return err
	}
	if p == nil {
		fmt.Fprintf(c.Out, "prune: nothing goes; the log begins with record %d\n", keep)
		return nil
	}
	if missed := p.Missed; len(missed) > 0 {
		for _, m := range missed {
			fmt.Fprintf(c.Out, "note: %s\n", m)
		}
	}
	fmt.Fprintf(c.Out, "prune: records before %d are gone: %s, %d bytes\n", p.First, cli.Counted(len(p.Files), "file", "files"), bytes)
	return nil
}

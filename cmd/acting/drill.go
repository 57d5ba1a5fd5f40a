package acting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/run/drill"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store/open"
)

// drillFlags are the flags of drill: which copy to test, where, and what to compare it with.
type drillFlags struct {
	cli.JobFlags
	output             cli.OutputFlag
	from, manifest     string
	dir, report, by    string
	decisions, explain int
}

func newDrill(c *cli.CLI) *cobra.Command {
	var f drillFlags
	cmd := &cobra.Command{
		Use:   "drill",
		Short: "Try a restore of a copy, and report what holds",
		Long: `Restore a copy into a directory of its own, check what came, and delete it again. The live log and the
copy are only read. The checks:

  Manifest           it can be read, and names one log without a gap that it does not say
  Restore            each object has its SHA-256, and the records lead to the head of the manifest
  Records and chain  all that 'jobledger verify' checks
  Decisions          the newest are made again, and are the same; so are the states that the log stores
  Lists of Jobs      they are what a fold of the records gives
  Answers            some Jobs are explained; with --log or --server as the live log explains them, as of
                     the same record, where it still has them
  Removed            nothing is left of the drill

The exit code is 0 when all holds, and 1 when something does not, or the drill was interrupted; then
nothing is left either. What a drill left that was killed is deleted by the next one at that place.

The directory is a new one for temporary files, or below --dir, which must be empty or not there. One
that is in the live log, or in the copy, is refused. It needs the room of the log.

The report says who ran the drill, when, at which head, what was checked and how long it took.
-o md or -o json prints it; --report PATH writes PATH.md and PATH.json beside what is printed.

` + placeHelp,
		Example: `  jobledger drill --from /mnt/backup/jobledger
  jobledger drill --from s3://backups/jobledger --log DIR --report drills/2026-03-14
  jobledger drill --from s3://backups/jobledger --dir /scratch/drill --decisions 0 -o md`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDrill(cmd.Context(), c, &f) },
	}
	cmd.Flags().StringVar(&f.from, "from", "", "place of the copy: a directory, or s3://BUCKET/PREFIX")
	cmd.Flags().StringVar(&f.manifest, "manifest", "", "an earlier manifest, such as manifests/00000000000000041999-1")
	cmd.Flags().StringVar(&f.dir, "dir", "", "an empty directory to restore below, or one to be made; that of temporary files unless given")
	cmd.Flags().IntVar(&f.decisions, "decisions", 100_000, "make so many of the newest decisions again, at least; 0 for all")
	cmd.Flags().IntVar(&f.explain, "jobs", 20, "explain so many Jobs")
	cmd.Flags().StringVar(&f.report, "report", "", "write the report to this path with .md and with .json behind it")
	cmd.Flags().StringVar(&f.by, "by", "", "who runs the drill, for the report; the user and the host unless given")
	f.AddSource(cmd)
	f.output.AddFormats(cmd, cli.FormatTable, cli.FormatMarkdown, cli.FormatJSON, cli.FormatYAML)
	return cmd
}

// config returns which copy to test and how, as the flags say, or a usage error.
func (f *drillFlags) config(c *cli.CLI) (*drill.Config, error) {
	if err := f.output.Validate(); err != nil {
		return nil, err
	}
	place, err := placeOf(c.Getenv, "from", f.from)
	if err != nil {
		return nil, err
	}
	if f.decisions < 0 || f.explain < 0 {
		return nil, cli.Usage("--decisions and --jobs must be 0 or more")
	}
	config := &drill.Config{
		Place: place, Manifest: f.manifest, Dir: f.dir, Decisions: f.decisions, Jobs: f.explain, By: f.by,
		Version: cli.ThisBuild().Version,
	}
	for _, address := range []string{f.Source.Log, c.Getenv(cli.EnvLog)} {
		if dir, err := open.Dir(address); address != "" && err == nil {
			config.Apart = append(config.Apart, drill.Apart{Dir: dir, What: "the live log"})
		}
	}
	if dir, is := directoryOf(f.from); is {
		config.Apart = append(config.Apart, drill.Apart{Dir: dir, What: "the copy"})
	}
	return config, nil
}

func runDrill(ctx context.Context, c *cli.CLI, f *drillFlags) error {
	config, err := f.config(c)
	if err != nil {
		return err
	}
	if f.Source.Given(c.Getenv) {
		src, _, err := f.Source.OpenToFold(ctx, c)
		if err != nil {
			return err
		}
		defer src.Close()
		config.Live = &drill.Live{Source: src, Ask: func(ctx context.Context,
			q *ask.Asked[explain.Answer]) (*explain.Answer, error) {
			return cli.Put(ctx, c, src, q, serve.Hears{Note: func(string) {}, Behind: func(string) {}, Read: c.HasRead})
		}}
	}
	progress := cli.NewProgress(c.Err, "", 0)
	config.Tell = func(check string, done, total uint64) {
		progress.Name(check, total)
		progress.Show(done)
	}
	report, err := drill.Run(ctx, config)
	progress.Clear()
	var usage *drill.UsageError
	switch {
	case errors.As(err, &usage):
		return cli.Usage("%s", words.Clean(err.Error()))
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("drill: it was interrupted; nothing of it is left")
	case err != nil:
		return fmt.Errorf("drill: %s", words.Clean(err.Error()))
	}
	if err := errors.Join(f.write(report), f.show(c, report)); err != nil {
		return fmt.Errorf("drill: %w", err)
	}
	if !report.Passed {
		return cli.ErrTold
	}
	return nil
}

// write writes the report into the two files that --report names.
func (f *drillFlags) write(report *drill.Report) error {
	if f.report == "" {
		return nil
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(f.report+".md", []byte(report.Markdown()), 0o600),
		os.WriteFile(f.report+".json", append(text, '\n'), 0o600))
}

func (f *drillFlags) show(c *cli.CLI, report *drill.Report) error {
	switch {
	case f.output.Document():
		return c.Value(&f.output, report)
	case f.output.Format == cli.FormatMarkdown:
		_, err := fmt.Fprint(c.Out, report.Markdown())
		return err
	}
	for _, check := range report.Checks {
		fmt.Fprintf(c.Out, "%s: %s: %s\n", strings.ToLower(check.Name), check.Outcome, words.Clean(check.Text))
		for _, d := range check.Details {
			fmt.Fprintf(c.Out, "  %s\n", words.Clean(d))
		}
	}
	result := "passed"
	if !report.Passed {
		result = "did not pass"
	}
	log := "" // unknown if the manifest cannot be read
	if of := report.Copy; of.LogID != "" {
		log = fmt.Sprintf("; log %s.%d, head %d %s", words.Clean(of.LogID), of.Epoch, of.Head, of.Hash)
	}
	fmt.Fprintf(c.Out, "drill: %s in %.1f s, by %s%s, from %s\n", result, report.Seconds, words.Clean(report.By), log, words.Clean(report.Copy.Place))
	return nil
}

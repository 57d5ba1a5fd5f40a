package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/show"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
)

func newVerify(c *cli) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the log is whole and as it was written",
		Long: `Read the whole log and check what must hold: dense sequences, checksums, the hash chain over every
record, batches, pointers within streams, and that nothing is missing that the log does not admit.

The last line is "verify: R records, head SEQ HASH". If the log is damaged, the first bad record is
named, and what before it is intact, and the exit code is 1. Nobody may write the log meanwhile.`,
		Example: `  jobledger verify --log DIR`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usage("say which log: --log DIR")
			}
			return c.verify(cmd.Context(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "log", "", "directory of the log")
	if err := cmd.MarkFlagDirname("log"); err != nil {
		panic(err) // there is no such flag
	}
	return cmd
}

func (c *cli) verify(ctx context.Context, dir string) error {
	progress := newProgress(c.err, "verify", 0)
	report, err := boltlog.Verify(ctx, dir, func(done, total int64) {
		progress.total = uint64(max(total, 1))
		progress.show(uint64(done))
	})
	progress.clear()
	for _, note := range report.Notes {
		fmt.Fprintf(c.out, "note: %s\n", show.Clean(note))
	}
	var bad *store.CorruptError
	switch {
	case errors.As(err, &bad):
		fmt.Fprintln(c.out, show.Clean(bad.Error()))
		fmt.Fprintf(c.out, "verify: first bad record %d; %s\n", bad.At, intact(report))
		return errTold
	case errors.Is(err, store.ErrHeld):
		return fmt.Errorf("%w (a log is verified while nobody writes it)", err)
	case err != nil:
		return explainOpen(dir, err)
	}
	if report.First > 1 {
		fmt.Fprintf(c.out, "note: records before %d were pruned\n", report.First)
	}
	note, err := keyNote(ctx, dir)
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintf(c.out, "note: %s\n", show.Clean(note))
	}
	fmt.Fprintf(c.out, "verify: %d records, head %d %s\n", report.Records, report.Head.Sequence, report.Head.Hash)
	return nil
}

// keyNote says what is wrong with the key with which the newest run hashed specs and templates; empty when nothing is. What is
// verified does not depend on it.
func keyNote(ctx context.Context, dir string) (string, error) {
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		return "", explainOpen(dir, err)
	}
	defer func() { _ = log.Close() }() // read only: nothing can be lost
	for rec, err := range log.ReadStream(ctx, events.Controller, 0, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		f, ok := rec.Facts.(*events.ControllerStarted)
		if !ok {
			continue
		}
		return keyText(dir, f.Key), nil
	}
	return "", nil
}

func keyText(dir, used string) string {
	key, err := boltlog.ReadKey(dir)
	switch {
	case used == "":
		return "" // it hashed without one
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("specs and templates are hashed with key %s, and there is no KEY: the next start makes a new one", used)
	case err != nil:
		return err.Error()
	case key.ID() != used:
		return fmt.Sprintf("specs and templates are hashed with key %s, and KEY has another, %s: the next start goes on with that one", used, key.ID())
	}
	return ""
}

// intact says what of a damaged log can be relied on.
func intact(r boltlog.Report) string {
	if r.Records == 0 {
		return "no record before it is intact"
	}
	return fmt.Sprintf("%d records from %d to %d are intact, head %d %s", r.Records, r.First, r.Head.Sequence, r.Head.Sequence, r.Head.Hash)
}

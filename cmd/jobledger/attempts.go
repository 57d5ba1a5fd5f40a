package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// attemptsFlags choose tries of a Job.
type attemptsFlags struct {
	caseFlags
	failed bool
	after  int
}

// usualAttempts is how many tries are listed, unless another number is wanted.
const usualAttempts = 200

func newAttempts(c *cli) *cobra.Command {
	var f attemptsFlags
	cmd := &cobra.Command{
		Use:   "attempts [NAMESPACE/]NAME | attempts job/NAME",
		Short: "List the tries of a Job: each pod, how it ended, and as what it counted",
		Long: `List the tries of a Job, by index: each pod that it had, deleted ones too, on which node it ran and for
how long, who ended it, its exit codes, as what it counted, and when the next try could come.

ENDED BY is "itself" when the pod's containers ended, "its own deadline" or "its own limit" when its
own spec stopped it; otherwise it says who deleted or stopped the pod, or "unknown". RAN is by our own
clock when both its beginning and its end were seen, otherwise by the node's, in whole seconds; ≤ says
that it was no more than that.

-o wide adds how it ended in words, UIDs, and between which records.`,
		Example: `  jobledger attempts job/etl --log DIR -n prod
  jobledger attempts job/etl --log DIR -n prod --failed -o json`,
		Args: oneJobArg,
		RunE: func(cmd *cobra.Command, args []string) error { return c.attempts(cmd.Context(), &f, args) },
	}
	f.add(cmd, c, formats...)
	cmd.Flags().BoolVar(&f.failed, "failed", false, "only tries that failed")
	f.limit.add(cmd, usualAttempts, "so many at most")
	cmd.Flags().IntVar(&f.after, "continue", 0, "leave out so many: those of the pages before")
	return cmd
}

func (c *cli) attempts(ctx context.Context, f *attemptsFlags, args []string) error {
	if err := notNegative("continue", f.after); err != nil {
		return err
	}
	src, found, err := f.read(ctx, c, args)
	if src != nil {
		defer src.Close()
	}
	if found == nil {
		return err
	}
	rows, all := found.Attempts(f.failed, f.after, f.limit.most)
	return errors.Join(c.showAttempts(f, found, rows, all), err)
}

// attemptsPage is the list as JSON.
type attemptsPage struct {
	Items    []explain.Attempt `json:"items"`
	Sum      string            `json:"sum"`
	Continue int               `json:"continue,omitempty"` // the value of --continue for the next page; absent when there is none
	// Truncated: the Job's first records are no longer kept, and tries may be missing.
	Truncated bool `json:"truncated,omitempty"`
}

func (c *cli) showAttempts(f *attemptsFlags, found *explain.Case, rows []explain.Attempt, all int) error {
	page := attemptsPage{Items: append([]explain.Attempt{}, rows...), Sum: found.Sum(), Truncated: found.Truncated()}
	if next := f.after + len(rows); next < all {
		page.Continue = next
	}
	if f.output.document() {
		return c.value(&f.output, page)
	}
	if err := c.page(&f.output).Attempts(rows, page.Sum); err != nil {
		return err
	}
	if len(rows) == 0 && f.after > 0 {
		fmt.Fprintf(c.err, "note: there are only %d, all on the pages before\n", all)
	}
	if page.Continue != 0 {
		fmt.Fprintf(c.err, "note: %d of %d; --continue %d shows the next\n", len(rows), all, page.Continue)
	}
	return nil
}

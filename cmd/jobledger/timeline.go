package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// usualLanes is how many rows a timeline has, unless another number is wanted.
const usualLanes = 30

func newTimeline(c *cli) *cobra.Command {
	var f caseFlags
	cmd := &cobra.Command{
		Use:   "timeline [NAMESPACE/]NAME | timeline job/NAME",
		Short: "Draw when the tries of a Job did what",
		Long: `Draw when the tries of a Job did what: one row an index, or a pod of a Job without indexes. Times in
which the cluster was not watched are marked in each row: what is shown there is not known.

When there are more rows than --limit, those with failures come first.`,
		Example: `  jobledger timeline job/train --log DIR -n prod`,
		Args:    oneJobArg,
		RunE:    func(cmd *cobra.Command, args []string) error { return c.timeline(cmd.Context(), &f, args) },
	}
	f.add(cmd, c, formatTable, formatJSON, formatYAML)
	f.limit.add(cmd, usualLanes, "so many rows at most")
	return cmd
}

func (c *cli) timeline(ctx context.Context, f *caseFlags, args []string) error {
	src, found, err := f.read(ctx, c, args)
	if src != nil {
		defer src.Close()
	}
	if found == nil {
		return err
	}
	t := found.Timeline(f.limit.most)
	if f.output.document() {
		return errors.Join(c.value(&f.output, &t), err)
	}
	page := c.page(&f.output)
	page.Width = c.width()
	return errors.Join(page.Timeline(&t), err)
}

package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/explain"
)

// failuresFlags choose Jobs in trouble.
type failuresFlags struct {
	source       sourceFlags
	output       outputFlag
	namespace    string
	since, until string
	nearMisses   bool
	limit        int
}

// usualLooked is how many Jobs are looked at, unless another number is wanted.
const usualLooked = 500

func newFailures(c *cli) *cobra.Command {
	var f failuresFlags
	cmd := &cobra.Command{
		Use:   "failures",
		Short: "List Jobs that are stuck or failed, and why",
		Long: `List Jobs that are stuck or failed, and why: the stuck ones first, then the newest failure. ALSO is how
many more Jobs of the list failed in the same way. 'jobledger explain job/NAME' says more of one.

A Job is stuck when none of its pods runs and nothing goes on by itself: a pod that cannot be
scheduled, an image that cannot be pulled, a container that crashes again and again, or pods that the
API server refuses.`,
		Example: `  jobledger failures --log DIR --since 1h -n prod
  jobledger failures --log DIR --since 24h --near-misses -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.failures(cmd.Context(), &f) },
	}
	f.source.add(cmd)
	f.output.add(cmd)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "only Jobs in this namespace")
	cmd.Flags().StringVar(&f.since, "since", "", "only those from this time on: 2h before now, or 2026-01-02T15:04:05Z; all that are stuck")
	cmd.Flags().StringVar(&f.until, "until", "", "only those up to this time")
	cmd.Flags().BoolVar(&f.nearMisses, "near-misses", false, "also Jobs that succeeded, and had failures on the way")
	cmd.Flags().IntVar(&f.limit, "limit", usualLooked, "look at so many Jobs at most, the newest; 0 for all")
	return cmd
}

func (c *cli) failures(ctx context.Context, f *failuresFlags) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	if f.limit < 0 {
		return usage("--limit: must not be negative")
	}
	q := explain.FailuresQuery{Namespace: f.namespace, Survived: f.nearMisses, Limit: f.limit}
	var err error
	if q.Since, err = parseSince(f.since, time.Now()); err != nil {
		return err
	}
	if q.Until, err = parseBound("until", f.until, time.Now()); err != nil {
		return err
	}
	src, err := f.source.openToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	found, err := explain.FindFailures(ctx, src, q)
	if f.output.format == formatJSON || f.output.format == formatYAML {
		return errors.Join(c.indented(&f.output, &found), err)
	}
	page := c.page(&f.output)
	page.Namespace = f.namespace
	return errors.Join(page.Failures(&found), err)
}

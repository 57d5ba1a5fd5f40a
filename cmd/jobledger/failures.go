package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// failuresFlags choose Jobs in trouble.
type failuresFlags struct {
	job        jobFlags
	output     outputFlag
	span       spanFlags
	selector   selectorFlag
	nearMisses bool
	limit      limitFlag
}

// usualFailed is how many Jobs that failed are listed, unless another number is wanted.
const usualFailed = 500

func newFailures(c *cli) *cobra.Command {
	var f failuresFlags
	cmd := &cobra.Command{
		Use:   "failures",
		Short: "List Jobs that are stuck or failed, and CronJobs that do not start, and why",
		Long: `List Jobs that are stuck or failed, and why: the stuck ones first, then the newest failure. There is one
line a cause: JOBS is how many fared alike, from SINCE to LAST. -o wide has a line for each Job, and
'jobledger explain NAME' says more of one.

A Job is stuck when none of its pods runs and nothing goes on by itself: a pod that cannot be
scheduled, an image that cannot be pulled, a container that crashes again and again, or pods that the
API server refuses. A CronJob is stuck when it is held, does not start, is never due, or when none of
its Jobs comes to an end. All that is stuck is told, whenever it was heard of last; -l leaves CronJobs
out, as the log keeps no labels of them.

With --until the list is as of that time: a Job that was stuck then is told, though it got on later.

-l is that of kubectl, but the log has only those labels that the controller was told to keep
(run --keep-labels).`,
		Example: `  jobledger failures --log DIR --since 1h -n prod
  jobledger failures --log DIR -A -l team=data --since 12:00 --until 13:00 --local
  jobledger failures --log DIR --since 24h --near-misses -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("failures is of many Jobs: 'jobledger explain %s' says why one failed", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return c.failures(cmd.Context(), &f) },
	}
	f.job.add(cmd, c, "only Jobs in this namespace")
	f.output.add(cmd)
	f.output.addLocal(cmd)
	f.selector.add(cmd, "only Jobs with these labels, of those that the log keeps")
	f.span.addSince(cmd, "all that is stuck, and only those failures from this time on")
	f.span.addUntil(cmd, "as of this time: what was stuck or had failed then, whatever came later")
	cmd.Flags().BoolVar(&f.nearMisses, "near-misses", false, "also Jobs that succeeded after failures, disruptions that did not count, or restarts")
	f.limit.add(cmd, usualFailed, "so many Jobs that failed at most, the newest, and so many near misses")
	return cmd
}

func (c *cli) failures(ctx context.Context, f *failuresFlags) error {
	if err := f.output.validate(); err != nil {
		return err
	}
	if err := cmp.Or(f.limit.validate(), f.span.parse(f.output.zone())); err != nil {
		return err
	}
	q := explain.FailuresQuery{Namespace: f.job.namespace, Survived: f.nearMisses, Limit: f.limit.most, Zone: f.output.textZone()}
	var err error
	if q.Labels, err = f.selector.parse(); err != nil {
		return err
	}
	src, _, err := f.job.source.openToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	if q.Since, q.Until, err = f.span.span(ctx, c, src); err != nil {
		return err
	}
	if err := c.noteLabels(ctx, src, q.Labels); err != nil {
		return err
	}
	c.noteUnlisted(ctx, src)
	found, err := explain.FindFailures(ctx, src, q)
	if err != nil && found.Looked == 0 {
		return err // "0 failed" would be no answer
	}
	if f.output.document() {
		return errors.Join(c.value(&f.output, &found), err)
	}
	page := c.page(&f.output)
	page.Namespace = f.job.namespace
	err = errors.Join(page.Failures(&found), err)
	if err == nil && found.Looked == 0 && f.job.namespace != "" {
		c.noJobs(f.job.namespace)
	}
	return err
}

package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobledger/jobledger/internal/read/plan"
)

// planFlags choose the Jobs from which a plan is made.
type planFlags struct {
	job    jobFlags
	output outputFlag
	span   spanFlags
}

func newPlan(c *cli) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say whose future Jobs would come here, and how",
		Long: `Say whose future Jobs could come here, what has to be written for that, and what would have been
different so far: an owner a line, the one with the most Jobs first. An owner is the object that
controls Jobs, such as a CronJob, or the field manager that made them.

It is read from a log that has observed the Jobs (run --manage=observe, or --observe=others). A Job that
exists stays with the controller that it has: spec.managedBy cannot be changed. The policies in
deploy/policy set it for new Jobs of the namespaces with a label.

Below an owner stands what would have been decided otherwise: the reason, of how many Jobs, and the
first record of it. Pods that our rules wanted too, and that did not come, are told apart: whether the
API server refused them, or their controller did not ask for them, is not in the log.`,
		Example: `  jobledger plan --log DIR --since 168h
  jobledger plan --log DIR -n prod -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("plan is of all owners, and takes no %q: -n NAMESPACE chooses those of a namespace", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return c.plan(cmd.Context(), &f) },
	}
	f.job.add(cmd, c, "only Jobs in this namespace")
	f.output.add(cmd)
	f.output.addLocal(cmd)
	f.span.addSince(cmd, "only Jobs that were seen first from this time on")
	f.span.addUntil(cmd, "only those up to this time")
	return cmd
}

func (c *cli) plan(ctx context.Context, f *planFlags) error {
	if err := errors.Join(f.output.validate(), f.span.parse(f.output.zone())); err != nil {
		return err
	}
	src, _, err := f.job.source.openToFold(ctx, c)
	if err != nil {
		return err
	}
	defer src.Close()
	c.noteUnlisted(ctx, src)
	q := plan.Query{Namespace: f.job.namespace}
	if q.Since, q.Until, err = f.span.span(ctx, c, src); err != nil {
		return err
	}
	made, err := plan.Read(ctx, src, q)
	if err != nil && len(made.Owners) == 0 {
		return err // no answer, which is not the same as no Job
	}
	if f.output.document() {
		return errors.Join(c.value(&f.output, made), err)
	}
	if len(made.Owners) == 0 {
		c.noJobs(f.job.namespace)
		return nil
	}
	page := c.page(&f.output)
	page.Namespace = f.job.namespace
	return errors.Join(page.Plan(made), err)
}

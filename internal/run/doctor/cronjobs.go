package doctor

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/events"
)

// cronJobs reports which controller runs the CronJobs, as far as their objects show it. A CronJob has no managedBy
// field, so one controller runs them all.
func cronJobs(ctx context.Context, c *Config) []Finding {
	if !c.Settings.CronJobs {
		return nil
	}
	all, err := countCronJobs(ctx, c)
	if err != nil {
		return []Finding{cannotList("CronJobs", err)}
	}
	text := fmt.Sprintf("%s, %d suspended", many(all.found, "CronJob", "CronJobs"), all.suspended)
	if all.more {
		text = fmt.Sprintf("of the first %d CronJobs %d are suspended", all.found, all.suspended)
	}
	found := well(text)
	wrote := c.Now().Sub(all.newest)
	switch {
	case c.Settings.Mode == events.ModeAll && c.byAnother(ctx, all.newest):
		found = append(found, Finding{
			Level: Problem, Text: fmt.Sprintf("the built-in controller runs CronJobs: it wrote a status %s ago", wrote.Round(time.Second)),
			Do: "switch it off before --manage=all (kube-controller-manager --controllers=*,-cronjob-controller), or leave CronJobs to it, with --cronjobs=false",
		})
	case c.Settings.Mode != events.ModeAll && all.found > all.suspended && wrote >= time.Hour:
		found = append(found, Finding{
			Level: Note, Text: "no status of a CronJob was written by the built-in controller within an hour", Do: "see whether it runs, if a CronJob was due",
		})
	}
	return found
}

// cronCensus is what the CronJob objects show about which controller runs them.
type cronCensus struct {
	found, suspended int
	newest           time.Time // newest time in a status written under the built-in controller's name
	more             bool      // there are more CronJobs, which were not read
}

func countCronJobs(ctx context.Context, c *Config) (*cronCensus, error) {
	all, next := &cronCensus{}, ""
	for range pages {
		list, err := c.Client.BatchV1().CronJobs(c.Settings.Namespace).List(ctx, page(next))
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			all.add(&list.Items[i], c.Now())
		}
		if next = list.Continue; next == "" {
			return all, nil
		}
	}
	all.more = true
	return all, nil
}

func (all *cronCensus) add(cronJob *batchv1.CronJob, now time.Time) {
	all.found++
	if cronJob.Spec.Suspend != nil && *cronJob.Spec.Suspend {
		all.suspended++
	}
	at := newestOf(now, cronJob.Status.LastScheduleTime, cronJob.Status.LastSuccessfulTime)
	if byBuiltin(cronJob.ManagedFields) && at.After(all.newest) {
		all.newest = at
	}
}

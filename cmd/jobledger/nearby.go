package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// unknown says that there is no such object, where it was looked for, and what may be written instead.
func (c *cli) unknown(ctx context.Context, src history.Source, p inSpace, h handle) error {
	what := h.String()
	switch {
	case h.any:
		what = "Job, CronJob or pod " + what
	case h.pod:
		what = "Job with a pod " + h.name
	}
	where := ""
	if !p.named {
		where = " or any other"
	}
	return fmt.Errorf("the log knows no %s in namespace %q%s (%s)", what, p.namespace, where, c.instead(ctx, src, p, h))
}

// instead says what may be written instead: another kind, another namespace, a name that is like it, or a list. With an error there is only no
// such hint.
func (c *cli) instead(ctx context.Context, src history.Source, p inSpace, h handle) string {
	var there []candidate
	if m := runOf.FindStringSubmatch(h.name); m != nil && h.cron { // it is the name of a Job of a CronJob
		if made, _ := history.FindCronJobs(ctx, src, p.namespace, m[1]); len(made) > 0 {
			there = append(there, candidate{handle: handle{name: m[1], cron: true}, namespace: p.namespace})
		}
	}
	found, _ := c.byNameIn(ctx, src, p.namespace, kindsOf(handle{name: h.name, any: true})[:2])
	for _, one := range found {
		there = append(there, candidate{handle: one, namespace: p.namespace})
	}
	if len(there) == 0 && p.named {
		there, _ = c.candidates(ctx, src, h, p.namespace)
		slices.SortStableFunc(there, func(a, b candidate) int { return unlike(a.namespace, p.namespace) - unlike(b.namespace, p.namespace) })
	}
	if len(there) == 0 {
		there = c.namedAlike(ctx, src, p, h)
	}
	if len(there) > 0 {
		return "there is " + some(there)
	}
	lists := "jobs"
	if h.cron {
		lists = "cronjobs"
		if all, err := src.CronJobs(ctx, history.CronJobsQuery{Limit: 1}); err == nil && len(all.Items) == 0 {
			return "it has no CronJobs at all: with --cronjobs=false, or without the right to list them, none are recorded"
		}
	}
	if !p.named {
		return fmt.Sprintf("'jobledger get %s -A' lists all", lists)
	}
	jobs, _ := src.Jobs(ctx, history.JobsQuery{Namespace: p.namespace, Limit: 1})
	crons, _ := src.CronJobs(ctx, history.CronJobsQuery{Namespace: p.namespace, Limit: 1})
	if len(jobs.Items) == 0 && len(crons.Items) == 0 {
		return fmt.Sprintf("the log knows nothing of that namespace: write NAMESPACE/NAME, or job/NAME -n NAMESPACE; 'jobledger get %s -A' lists all", lists)
	}
	return fmt.Sprintf("'jobledger get %s -n %s' lists all", lists, p.namespace)
}

// some are the first of some objects, and how many more there are.
func some(all []candidate) string {
	const most = 3
	var names []string
	for i := range all[:min(len(all), most)] {
		names = append(names, words.Clean(all[i].String()))
	}
	text := strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// unlike is how much one name differs from another, if it may be a slip of the pen; else it is more than that of any that may be.
func unlike(other, name string) int {
	if d := distance(other, name); d <= min(3, len(name)/3) {
		return d
	}
	return len(name) + len(other) + 1
}

// mistyped reports whether one name may be a slip of the pen for the other.
func mistyped(other, name string) bool {
	return max(len(other), len(name))-min(len(other), len(name)) <= 3 && distance(other, name) <= min(3, len(name)/3)
}

// namedAlike are the objects of the kinds that are meant with names like that one, the likest first: in the namespace that the user named, else
// in all.
func (c *cli) namedAlike(ctx context.Context, src history.Source, p inSpace, h handle) (found []candidate) {
	space := ""
	if p.named {
		space = p.namespace
	}
	has := map[string]bool{}
	add := func(o candidate) {
		if key := o.String(); !has[key] {
			found, has[key] = append(found, o), true
		}
	}
	if h.any || h.cron {
		made := "" // the CronJob whose Job bears such a name
		if m := runOf.FindStringSubmatch(h.name); m != nil {
			made = m[1]
		}
		page, _ := src.CronJobs(ctx, history.CronJobsQuery{Namespace: space})
		for i := range page.Items {
			if s := &page.Items[i]; s.Name == made || mistyped(s.Name, h.name) {
				add(candidate{handle: handle{name: s.Name, cron: true}, namespace: s.Namespace})
			}
		}
	}
	if !h.cron && !h.pod {
		_ = eachJob(ctx, src, history.JobsQuery{Namespace: space}, func(s *history.Summary) {
			if mistyped(s.Name, h.name) {
				add(candidate{handle: handle{name: s.Name}, namespace: s.Namespace})
			}
		})
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(unlike(a.name, h.name), unlike(b.name, h.name)) })
	return found
}

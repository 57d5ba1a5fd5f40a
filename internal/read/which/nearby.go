package which

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// unknown returns the error for an object h that was not found. It says in which namespace it was searched, and what to
// write instead.
func (f *Finder) unknown(ctx context.Context, p Place, h Object) error {
	what := h.String()
	switch {
	case h.Kind == Any:
		what = "Job, CronJob or pod " + what
	case h.Kind == Pod:
		what = "Job with a pod " + h.Name
	}
	where := ""
	if !p.Named {
		where = " or any other"
	}
	return Unknown("the log knows no %s in namespace %q%s (%s)", what, p.Namespace, where, f.instead(ctx, p, h))
}

// instead returns the part of an error that suggests what to write in place of h: another kind, another namespace, a
// similar name, or a command that lists objects. It ignores read errors, so suggestions may be missing.
func (f *Finder) instead(ctx context.Context, p Place, h Object) string {
	var there []candidate
	// The name has the form of a Job that a CronJob made: suggest that CronJob.
	if m := runOf.FindStringSubmatch(h.Name); m != nil && h.Kind == CronJob {
		if made, _ := history.FindCronJobs(ctx, f.Source, p.Namespace, m[1]); len(made) > 0 {
			there = append(there, candidate{Object: Object{Name: m[1], Kind: CronJob}, namespace: p.Namespace})
		}
	}
	found, _ := f.byNameIn(ctx, p.Namespace, kindsOf(Object{Name: h.Name, Kind: Any})[:2])
	for _, one := range found {
		there = append(there, candidate{Object: one, namespace: p.Namespace})
	}
	if len(there) == 0 && p.Named {
		there, _ = f.candidates(ctx, h, p.Namespace)
		slices.SortStableFunc(there, func(a, b candidate) int { return unlike(a.namespace, p.Namespace) - unlike(b.namespace, p.Namespace) })
	}
	if len(there) == 0 {
		there = f.namedAlike(ctx, p, h)
	}
	if len(there) > 0 {
		return "there is " + some(there)
	}
	lists := "jobs"
	if h.Kind == CronJob {
		lists = "cronjobs"
		if all, err := f.Source.CronJobs(ctx, history.CronJobsQuery{Limit: 1}); err == nil && len(all.Items) == 0 {
			return "it has no CronJobs at all: with --cronjobs=false, or without the right to list them, none are recorded"
		}
	}
	if !p.Named {
		return fmt.Sprintf("'jobledger get %s -A' lists all", lists)
	}
	jobs, _ := f.Source.Jobs(ctx, history.JobsQuery{Namespace: p.Namespace, Limit: 1})
	crons, _ := f.Source.CronJobs(ctx, history.CronJobsQuery{Namespace: p.Namespace, Limit: 1})
	if len(jobs.Items) == 0 && len(crons.Items) == 0 {
		return fmt.Sprintf("the log knows nothing of that namespace: write NAMESPACE/NAME, or job/NAME -n NAMESPACE; 'jobledger get %s -A' lists all", lists)
	}
	return fmt.Sprintf("'jobledger get %s -n %s' lists all", lists, p.Namespace)
}

// some returns the names of the first three objects, and how many more there are.
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

// unlike returns how different two names are, to sort by: the edit distance if one may be a typo of the other,
// otherwise a larger number.
func unlike(other, name string) int {
	if mistyped(other, name) {
		return words.Distance(other, name)
	}
	return len(name) + len(other) + 1
}

// mistyped reports whether one name may be a typo of the other: at most 3 edits, and at most a third of the name. It
// compares lengths first, which is fast: there may be 50,000 names.
func mistyped(other, name string) bool {
	return max(len(other), len(name))-min(len(other), len(name)) <= 3 && words.Distance(other, name) <= min(3, len(name)/3)
}

// namedAlike returns objects whose name is similar to that in h, the most similar first. It searches the namespace p if
// the user named it, otherwise all namespaces.
func (f *Finder) namedAlike(ctx context.Context, p Place, h Object) (found []candidate) {
	space := ""
	if p.Named {
		space = p.Namespace
	}
	has := map[string]bool{}
	add := func(o candidate) {
		if key := o.String(); !has[key] {
			found, has[key] = append(found, o), true
		}
	}
	if h.Kind == Any || h.Kind == CronJob {
		made := "" // if the name has the form of a Job that a CronJob made, the name of that CronJob
		if m := runOf.FindStringSubmatch(h.Name); m != nil {
			made = m[1]
		}
		page, _ := f.Source.CronJobs(ctx, history.CronJobsQuery{Namespace: space})
		for i := range page.Items {
			if s := &page.Items[i]; s.Name == made || mistyped(s.Name, h.Name) {
				add(candidate{Object: Object{Name: s.Name, Kind: CronJob}, namespace: s.Namespace})
			}
		}
	}
	if h.Kind != CronJob && h.Kind != Pod {
		_ = f.eachJob(ctx, history.JobsQuery{Namespace: space}, func(s *history.Summary) {
			if mistyped(s.Name, h.Name) {
				add(candidate{Object: Object{Name: s.Name}, namespace: s.Namespace})
			}
		})
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(unlike(a.Name, h.Name), unlike(b.Name, h.Name)) })
	return found
}

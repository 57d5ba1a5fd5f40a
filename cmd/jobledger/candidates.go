package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// candidate is an object that a name may mean, in a namespace.
type candidate struct {
	handle
	namespace string
	job       *history.Summary     // how a Job is; nil of other kinds
	every     *history.CronSummary // how a CronJob is
	stuck     bool
}

// String is how the object is named on the command line.
func (o *candidate) String() string { return o.handle.String() + " -n " + o.namespace }

// eachJob gives all Jobs that are wanted, the newest first. What is damaged is left out.
func eachJob(ctx context.Context, src history.Source, q history.JobsQuery, give func(*history.Summary)) error {
	for q.Limit = manyJobs; ; {
		page, err := src.Jobs(ctx, q)
		if err != nil && !src.Beside(err) {
			return err
		}
		for i := range page.Items {
			give(&page.Items[i])
		}
		if q.Continue = page.Continue; q.Continue == "" {
			return nil
		}
	}
}

// candidates are the objects in other namespaces than one that a handle may mean: at most one of a kind in each, the newest first.
func (c *cli) candidates(ctx context.Context, src history.Source, h handle, but string) ([]candidate, error) {
	kinds := kindsOf(h)
	all, pods, err := jobsNamed(ctx, src, h, but)
	if err != nil {
		return nil, err
	}
	if cron := (handle{name: h.name, cron: true}); slices.Contains(kinds, cron) {
		crons, err := cronJobsNamed(ctx, src, cron, but)
		if err != nil {
			return nil, err
		}
		all = append(all, crons...)
	}
	pod, has := handle{name: h.name, pod: true}, map[string]bool{}
	for i := range all {
		has[all[i].namespace] = true
	}
	for _, space := range pods {
		if has[space] || !slices.Contains(kinds, pod) {
			continue
		}
		found, err := here(ctx, src, space, pod)
		if err != nil && !src.Beside(err) {
			return nil, err
		}
		if len(found) > 0 {
			all = append(all, candidate{handle: pod, namespace: space})
		}
	}
	return all, nil
}

// jobsNamed are the Jobs that a handle may mean, and the namespaces with a Job whose pods may bear the name.
func jobsNamed(ctx context.Context, src history.Source, h handle, but string) (all []candidate, pods []string, err error) {
	has, at := map[string]bool{}, map[string]int{}
	// The name of a Job may be longer than what its pods' names keep of it.
	const kept = 40
	err = eachJob(ctx, src, history.JobsQuery{}, func(s *history.Summary) {
		i, known := at[s.Namespace]
		switch {
		case s.Namespace == but:
		case s.Name != h.name || h.pod || h.cron:
			if strings.HasPrefix(h.name, s.Name[:min(len(s.Name), kept)]) && !has[s.Namespace] {
				pods, has[s.Namespace] = append(pods, s.Namespace), true
			}
		case !known:
			at[s.Namespace] = len(all)
			all = append(all, candidate{handle: handle{name: h.name}, namespace: s.Namespace, job: s})
		case meantFirst(s) < meantFirst(all[i].job):
			all[i].job = s
		}
	})
	return all, pods, err
}

// cronJobsNamed are the CronJobs of a name.
func cronJobsNamed(ctx context.Context, src history.Source, h handle, but string) (all []candidate, err error) {
	page, err := src.CronJobs(ctx, history.CronJobsQuery{Name: h.name})
	if err != nil && !src.Beside(err) {
		return nil, err
	}
	has := map[string]bool{but: true}
	for i := range page.Items {
		if s := &page.Items[i]; s.Name == h.name && !has[s.Namespace] {
			all, has[s.Namespace] = append(all, candidate{handle: h, namespace: s.Namespace, every: s}), true
		}
	}
	return all, nil
}

// meantFirst is which of the Jobs of one name is meant: the one that goes on, else one that failed.
func meantFirst(s *history.Summary) int {
	switch s.State {
	case history.StateWaiting, history.StateRunning, history.StateSuspended, history.StateFailing, history.StateFinishing, history.StateDeleting:
		return 0
	case history.StateFailed:
		return 1
	}
	return 2
}

const (
	mostCandidates = 8   // that are named where a name means several objects
	mostLookedAt   = 500 // Jobs that go on, the newest, of which it is found out whether they are stuck
)

// several says that a handle means several objects: it names those in trouble, then the newest, and says how many there are.
func (c *cli) several(ctx context.Context, src history.Source, h handle, all []candidate) error {
	if len(all) == 1 || !slices.ContainsFunc(all, func(o candidate) bool { return o.namespace != all[0].namespace }) {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].String()
		}
		slices.Sort(names)
		return usage("%s is several things; write one of them: %s", h, strings.Join(names, ", "))
	}
	if err := findStuck(ctx, src, all); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.rank()-b.rank(), -cmp.Compare(a.first(), b.first())) })
	shown := all[:min(len(all), mostCandidates)]
	width := 0
	for i := range shown {
		width = max(width, len(shown[i].String()))
	}
	fmt.Fprintln(c.err, "The stuck and failed ones first, then the newest:")
	for i := range shown {
		fmt.Fprintf(c.err, "  %s\n", words.Clean(strings.TrimSpace(fmt.Sprintf("%-*s  %s", width, &shown[i], shown[i].how()))))
	}
	if more := len(all) - len(shown); more > 0 {
		lists := "jobs"
		if !slices.ContainsFunc(all, func(o candidate) bool { return !o.cron }) {
			lists = "cronjobs"
		}
		fmt.Fprintf(c.err, "  … and %d more: 'jobledger get %s -A' lists all\n", more, lists)
	}
	spaces := map[string]bool{}
	for i := range all {
		spaces[all[i].namespace] = true
	}
	return usage("%s is in %d namespaces: give -n NAMESPACE, or NAMESPACE/NAME, such as %s/%s", h, len(spaces), shown[0].namespace, shown[0].name)
}

// findStuck finds out which Jobs are stuck, as failures tells it.
func findStuck(ctx context.Context, src history.Source, all []candidate) error {
	var jobs []history.Summary
	for i := range all {
		if j := all[i].job; j != nil && meantFirst(j) == 0 && len(jobs) < mostLookedAt {
			jobs = append(jobs, *j)
		}
	}
	trouble, err := explain.TroubleOf(ctx, src, jobs)
	if err != nil && !src.Beside(err) {
		return err
	}
	for i := range all {
		if j := all[i].job; j != nil {
			all[i].stuck = trouble[j.UID].Sort == explain.SortStuck
		}
	}
	return nil
}

// rank is 0 for an object that is stuck, 1 for one that failed, and 2 for the others.
func (o *candidate) rank() int {
	switch {
	case o.stuck || o.every != nil && o.every.State == history.CronHeld:
		return 0
	case o.job != nil && (o.job.State == history.StateFailed || o.job.State == history.StateFailing):
		return 1
	}
	return 2
}

// first is the first record of the object; 0 of a pod.
func (o *candidate) first() uint64 {
	switch {
	case o.job != nil:
		return o.job.First
	case o.every != nil:
		return o.every.First
	}
	return 0
}

// how is how the object is, and since when.
func (o *candidate) how() string {
	switch {
	case o.every != nil:
		return string(o.every.State)
	case o.job == nil:
		return ""
	}
	text := string(o.job.State)
	if o.stuck {
		text = "stuck"
	}
	if at := cmp.Or(o.job.Finished, o.job.Started, o.job.Created); at != 0 {
		text += ", " + map[bool]string{true: "ended ", false: "begun "}[o.job.Finished != 0] + words.Zone{}.Second(events.Time(at))
	}
	return text
}

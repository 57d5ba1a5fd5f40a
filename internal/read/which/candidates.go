package which

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// candidate is one of several objects that the user may mean by a name.
type candidate struct {
	Object
	namespace string
	job       *history.Summary     // summary of the object if it is a Job, else nil
	every     *history.CronSummary // summary of the object if it is a CronJob, else nil
	stuck     bool
}

// String returns the object as on the command line: "job/etl -n prod".
func (o *candidate) String() string { return o.Object.String() + " -n " + o.namespace }

// eachJob calls give for each Job that the query q selects, the newest first. It skips Jobs whose records are damaged.
func (f *Finder) eachJob(ctx context.Context, q history.JobsQuery, give func(*history.Summary)) error {
	for q.Limit = pageOfJobs; ; {
		page, err := f.Source.Jobs(ctx, q)
		if err != nil && !f.Source.Beside(err) {
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

// candidates returns the objects that h, an object as the user gave it, may mean, in all namespaces except but. It
// returns at most one Job, one CronJob or one pod for each namespace and kind.
func (f *Finder) candidates(ctx context.Context, h Object, but string) ([]candidate, error) {
	kinds := kindsOf(h)
	all, pods, err := f.jobsNamed(ctx, h, but)
	if err != nil {
		return nil, err
	}
	if cron := (Object{Name: h.Name, Kind: CronJob}); slices.Contains(kinds, cron) {
		crons, err := f.cronJobsNamed(ctx, cron, but)
		if err != nil {
			return nil, err
		}
		all = append(all, crons...)
	}
	pod, has := Object{Name: h.Name, Kind: Pod}, map[string]bool{}
	for i := range all {
		has[all[i].namespace] = true
	}
	for _, space := range pods {
		if has[space] || !slices.Contains(kinds, pod) {
			continue
		}
		found, err := f.here(ctx, space, pod)
		if err != nil && !f.Source.Beside(err) {
			return nil, err
		}
		if len(found) > 0 {
			all = append(all, candidate{Object: pod, namespace: space})
		}
	}
	return all, nil
}

// jobsNamed returns the Jobs with the name in h, one for each namespace except but. pods lists the namespaces with a
// Job whose name begins like the name in h: h may be a pod of this Job.
func (f *Finder) jobsNamed(ctx context.Context, h Object, but string) (all []candidate, pods []string, err error) {
	has, at := map[string]bool{}, map[string]int{}
	// kept is how many characters of a long Job name are certainly in the names of its pods, which have limited length.
	const kept = 40
	err = f.eachJob(ctx, history.JobsQuery{}, func(s *history.Summary) {
		i, known := at[s.Namespace]
		switch {
		case s.Namespace == but:
		case s.Name != h.Name || h.Kind == Pod || h.Kind == CronJob:
			if strings.HasPrefix(h.Name, s.Name[:min(len(s.Name), kept)]) && !has[s.Namespace] {
				pods, has[s.Namespace] = append(pods, s.Namespace), true
			}
		case !known:
			at[s.Namespace] = len(all)
			all = append(all, candidate{Object: Object{Name: h.Name}, namespace: s.Namespace, job: s})
		case meantFirst(s) < meantFirst(all[i].job):
			all[i].job = s
		}
	})
	return all, pods, err
}

// cronJobsNamed returns the CronJobs with the name in h: the newest one of each namespace. It skips the namespace that
// the parameter but names.
func (f *Finder) cronJobsNamed(ctx context.Context, h Object, but string) (all []candidate, err error) {
	page, err := f.Source.CronJobs(ctx, history.CronJobsQuery{Name: h.Name})
	if err != nil && !f.Source.Beside(err) {
		return nil, err
	}
	has := map[string]bool{but: true}
	for i := range page.Items {
		if s := &page.Items[i]; s.Name == h.Name && !has[s.Namespace] {
			all, has[s.Namespace] = append(all, candidate{Object: h, namespace: s.Namespace, every: s}), true
		}
	}
	return all, nil
}

// meantFirst ranks Jobs with the same name. The user most likely means an active Job (0), then a failed one (1), then
// others (2).
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
	pageOfJobs     = 5000 // number of Jobs that one read returns
	mostCandidates = 8    // largest number of objects that an error lists
	mostLookedAt   = 500  // at most 500 active Jobs, the newest, are checked for being stuck
)

// several returns the error for a name that several objects have. It lists up to 8 of them and counts the others: stuck
// objects first, then failed ones, and within these the newest first.
func (f *Finder) several(ctx context.Context, h Object, all []candidate) error {
	if !slices.ContainsFunc(all, func(o candidate) bool { return o.namespace != all[0].namespace }) {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].String()
		}
		slices.Sort(names)
		return wrong("%s is several things; write one of them: %s", h, strings.Join(names, ", "))
	}
	if err := f.findStuck(ctx, all); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.rank()-b.rank(), -cmp.Compare(a.first(), b.first())) })
	shown := all[:min(len(all), mostCandidates)]
	width := 0
	for i := range shown {
		width = max(width, len(shown[i].String()))
	}
	spaces := map[string]bool{}
	for i := range all {
		spaces[all[i].namespace] = true
	}
	err := wrong("%s is in %d namespaces: give -n NAMESPACE, or NAMESPACE/NAME, such as %s/%s",
		h, len(spaces), shown[0].namespace, shown[0].Name)
	err.lines = append(err.lines, "The stuck and failed ones first, then the newest:")
	for i := range shown {
		line := strings.TrimSpace(fmt.Sprintf("%-*s  %s", width, &shown[i], shown[i].how()))
		err.lines = append(err.lines, "  "+words.Clean(line))
	}
	if more := len(all) - len(shown); more > 0 {
		lists := "jobs"
		if !slices.ContainsFunc(all, func(o candidate) bool { return o.Kind != CronJob }) {
			lists = "cronjobs"
		}
		err.lines = append(err.lines, fmt.Sprintf("  … and %d more: 'jobledger get %s -A' lists all", more, lists))
	}
	return err
}

// findStuck sets candidate.stuck for the Jobs that the command failures would list as stuck.
func (f *Finder) findStuck(ctx context.Context, all []candidate) error {
	var jobs []history.Summary
	for i := range all {
		if j := all[i].job; j != nil && meantFirst(j) == 0 && len(jobs) < mostLookedAt {
			jobs = append(jobs, *j)
		}
	}
	trouble, err := failures.TroubleOf(ctx, f.Source, jobs)
	if err != nil && !f.Source.Beside(err) {
		return err
	}
	for i := range all {
		if j := all[i].job; j != nil {
			all[i].stuck = trouble[j.UID].Sort == failures.SortStuck
		}
	}
	return nil
}

// rank returns 0 for a stuck object, 1 for a failed one, and 2 for others.
func (o *candidate) rank() int {
	switch {
	case o.stuck || o.every != nil && o.every.State == history.CronHeld:
		return 0
	case o.job != nil && (o.job.State == history.StateFailed || o.job.State == history.StateFailing):
		return 1
	}
	return 2
}

// first returns the number of the object's first record in the log; 0 for a pod.
func (o *candidate) first() uint64 {
	switch {
	case o.job != nil:
		return o.job.First
	case o.every != nil:
		return o.every.First
	}
	return 0
}

// how returns the state of the object, and for a Job when it ended or began: "stuck, begun 2026-01-02T15:04:05Z".
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

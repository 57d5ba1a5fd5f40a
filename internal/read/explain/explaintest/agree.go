package explaintest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// lists has the rows that lists of a log show, by UID of the object: from `get jobs`, `get cronjobs` and `failures`.
type lists struct {
	jobs     map[string]*history.Summary
	cronJobs map[string]*history.CronSummary
	trouble  map[string]*failures.Trouble
}

func readLists(ctx context.Context, src history.Source) (*lists, error) {
	l := &lists{map[string]*history.Summary{}, map[string]*history.CronSummary{}, map[string]*failures.Trouble{}}
	jobs, err := src.Jobs(ctx, history.JobsQuery{})
	if err != nil {
		return nil, err
	}
	for i := range jobs.Items {
		l.jobs[jobs.Items[i].UID] = &jobs.Items[i]
	}
	crons, err := src.CronJobs(ctx, history.CronJobsQuery{})
	if err != nil {
		return nil, err
	}
	for i := range crons.Items {
		l.cronJobs[crons.Items[i].UID] = &crons.Items[i]
	}
	failures, err := failures.Find(ctx, src, failures.Query{Survived: true})
	if err != nil {
		return nil, err
	}
	for i := range failures.Items {
		l.trouble[failures.Items[i].UID] = &failures.Items[i]
	}
	return l, nil
}

var sumCounts = regexp.MustCompile(`^(\d+) tr(?:y|ies)\b.* · (\d+) succeeded, (\d+) failed`)

// job compares the answer about a Job with the lists, with the Job's state, and with its tries (pods). It returns
// contradictions.
func (l *lists) job(a *explain.Answer, state *history.Job, rows []attempts.Attempt, sum string) (out []claim) {
	says := a.State + " " + a.Verdict.Text
	row := l.jobs[a.UID]
	switch {
	case row == nil:
		out = append(out, claim{says, "`get jobs` does not list it"})
	case string(row.State) != a.State:
		out = append(out, claim{says, "`get jobs` says " + string(row.State)})
	default:
		out = append(out, rowOfJob(row, state)...)
	}
	if t := l.trouble[a.UID]; t != nil {
		if t.Tries != len(rows) {
			out = append(out, claim{fmt.Sprintf("failures: %d tries", t.Tries), fmt.Sprintf("attempts has %d", len(rows))})
		}
		if t.Sort == failures.SortFailed && !strings.Contains(a.Verdict.Text, t.Why) {
			out = append(out, claim{"failures: " + t.Why, "explain says " + says})
		}
		if failed := a.State == "Failed" || a.State == "Failing"; failed != (t.Sort == failures.SortFailed) {
			out = append(out, claim{"failures: " + t.Sort, "explain says " + says})
		}
	} else if a.State == "Failed" {
		out = append(out, claim{says, "`failures` does not list it"})
	}
	if m := sumCounts.FindStringSubmatch(sum); m != nil {
		counted := map[try.Counted]int{}
		for i := range rows {
			counted[rows[i].Counted]++
		}
		if number(m[1]) != len(rows) || number(m[2]) != counted[try.CountedSucceeded] ||
			number(m[3]) != counted[try.CountedFailed] {
			out = append(out, claim{"attempts: " + sum, fmt.Sprintf("its rows are %d: %v", len(rows), counted)})
		}
	}
	return out
}

// rowOfJob compares a row of `get jobs` with the answer of `get job`, and returns contradictions.
func rowOfJob(row *history.Summary, state *history.Job) (out []claim) {
	differ := func(what string, a, b any) {
		if a, b := fmt.Sprint(a), fmt.Sprint(b); a != b {
			out = append(out, claim{"get jobs: " + what + " " + a, "get job: " + b})
		}
	}
	differ("name", row.Namespace+"/"+row.Name, state.Namespace+"/"+state.Name)
	differ("state", row.State, state.State)
	differ("reason", row.Reason, state.Reason)
	differ("gone", row.Gone, state.Gone)
	differ("counts", row.Counts, state.Counts)
	differ("created", row.Created, state.Created)
	differ("started", row.Started, state.Started)
	differ("finished", row.Finished, state.Finished)
	differ("records", []uint64{row.First, row.Last, row.Records}, []uint64{state.First, state.Last, state.Records})
	if state.Origin != nil {
		differ("labels", row.Labels, state.Origin.Labels)
	}
	return out
}

// runOfJob compares what the answer about a CronJob says of one of its Jobs, r, with the row of this Job in the list.
// The CronJob learns of the Job by another watch, so one of the two may be ahead: only two different ends are a
// contradiction.
func runOfJob(r *history.Run, row *history.Summary) (out []claim) {
	ended := func(s history.State) bool { return s == history.StateComplete || s == history.StateFailed }
	if ended(r.State) && ended(row.State) && r.State != row.State {
		out = append(out, claim{fmt.Sprintf("get cronjob: %s %s", r.Name, r.State), "`get jobs` says " + string(row.State)})
	}
	for what, times := range map[string][2]recordjson.Instant{
		"created": {r.Created, row.Created}, "started": {r.Started, row.Started}, "finished": {r.Finished, row.Finished},
	} {
		a, b := events.Time(times[0]).Second(), events.Time(times[1]).Second()
		if a != 0 && b != 0 && a != b && (what == "created" || ended(r.State) && ended(row.State)) {
			out = append(out, claim{fmt.Sprintf("get cronjob: %s %s at %s", r.Name, what, recordjson.Stamp(a)),
				"`get jobs` says " + recordjson.Stamp(b)})
		}
	}
	return out
}

// cronJob compares the answer about a CronJob with its row in the list, and returns contradictions.
func (l *lists) cronJob(a *explain.Answer, state *history.CronJob) (out []claim) {
	row := l.cronJobs[a.UID]
	switch {
	case row == nil:
		return []claim{{a.Verdict.Text, "`get cronjobs` does not list it"}}
	case string(row.State) != a.State:
		out = append(out, claim{a.State + " " + a.Verdict.Text, "`get cronjobs` says " + string(row.State)})
	}
	if (row.Due == nil) != (state.Due == nil) && state.Managed {
		out = append(out, claim{fmt.Sprintf("get cronjobs: due %+v", row.Due), fmt.Sprintf("explain: due %+v", state.Due)})
	}
	active := 0
	for i := range state.Runs {
		if state.Runs[i].State == history.StateRunning {
			active++
		}
	}
	for i := range state.Runs {
		r := &state.Runs[i]
		job := l.jobs[r.UID]
		if job == nil {
			continue
		}
		out = append(out, runOfJob(r, job)...)
		if state.Gone && r.State == history.StateRunning && job.State != r.State {
			out = append(out, claim{fmt.Sprintf("get cronjob: %s %s", r.Name, r.State), "`get jobs` says " + string(job.State)})
		}
	}
	if row.LastRun != "" && row.LastRun == "Complete" && strings.HasPrefix(a.Verdict.Text,
		"FAILING: its last run failed") {
		out = append(out, claim{a.Verdict.Text, "`get cronjobs` says of its last run " + row.LastRun})
	}
	if a.State == string(history.CronWaiting) && active > 0 {
		out = append(out, claim{a.State, fmt.Sprintf("%d of its Jobs run", active)})
	}
	return out
}

// attemptsAsSeen checks that the times of each try (pod) are in the records of its pod, and that the records it cites
// are about this pod.
func attemptsAsSeen(rows []attempts.Attempt, f *facts) (out []claim) {
	for i := range rows {
		a := &rows[i]
		var own []events.Time
		for _, r := range f.records {
			if f.isAbout(r, types.UID(a.UID)) {
				own = append(own, timesOf(r)...)
			}
		}
		for name, t := range map[string]recordjson.Instant{"created": a.Created, "started": a.Started,
			"deletionAsked": a.Deleted} {
			if t != 0 && len(own) > 0 && !slices.Contains(own, events.Time(t)) {
				out = append(out, claim{fmt.Sprintf("attempts: %s %s %s", a.Pod, name, recordjson.Stamp(events.Time(t))),
					"no record of the pod holds that"})
			}
		}
		for name, n := range a.Records {
			if r := f.all.at[events.Sequence(n)]; r == nil || name != "ordered" && name != "counted" && !f.isAbout(r,
				types.UID(a.UID)) {
				out = append(out, claim{fmt.Sprintf("attempts: %s %s in record %d", a.Pod, name, n),
					"that record is of something else"})
			}
		}
	}
	return out
}

// isAbout reports whether a record is about a pod.
func (f *facts) isAbout(r *events.Record, pod types.UID) bool {
	switch x := r.Facts.(type) {
	case *events.PodSeen:
		return x.UID == pod
	case *events.PodGone:
		return x.UID == pod
	case *events.CommandEnded:
		return x.UID == pod || slices.ContainsFunc(f.all.commandsOf(x.Command.Decided),
			func(c events.Command) bool { return events.PodOf(c) == pod })
	case *events.Decision:
		return slices.ContainsFunc(x.Commands(), func(c events.Command) bool { return events.PodOf(c) == pod })
	case *events.StoredState:
		return true
	}
	return false
}

func (e *everything) commandsOf(decided events.Sequence) []events.Command {
	if r := e.at[decided]; r != nil {
		if d, ok := r.Facts.(*events.Decision); ok {
			return d.Commands()
		}
	}
	return nil
}

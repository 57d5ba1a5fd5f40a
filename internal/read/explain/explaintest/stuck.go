package explaintest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// stuckFor is how long a pod must wait, or its creation must be refused, until this package demands that `failures`
// lists the Job. It is longer than in the answers themselves, because a reason of the scheduler may change and come
// back.
const stuckFor = 30 * time.Second

// endless has the waiting reasons of the scheduler and the kubelet that do not pass without help.
var endless = []string{
	"Unschedulable", "SchedulingGated", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull",
	"CreateContainerConfigError",
	"CreateContainerError", "RunContainerError",
}

// Stuck checks that `failures` lists all Jobs and CronJobs that are stuck at the end of a log, by their own answer or
// by their records. stuck is the number of these.
func Stuck(ctx context.Context, src history.Source) (found []Finding, stuck int, err error) {
	all, err := readAll(ctx, src)
	if err != nil {
		return nil, 0, err
	}
	if all.lists, err = readLists(ctx, src); err != nil {
		return nil, 0, err
	}
	now, err := history.NowOf(ctx, src)
	if err != nil {
		return nil, 0, err
	}
	look := func(a *explain.Answer, why string) {
		if why == "" {
			return
		}
		stuck++
		if t := all.lists.trouble[a.UID]; t == nil || t.Sort != failures.SortStuck {
			found = append(found, Finding{
				Rule: "stuck, and failures does not name it", Of: fmt.Sprintf("%s %s/%s", a.Kind, a.Namespace, a.Name),
				Says: a.Verdict.Text, But: why, Answer: a,
			})
		}
	}
	for _, s := range all.jobs {
		c, err := job.Read(ctx, src, s, history.Point{})
		if err != nil {
			return nil, 0, err
		}
		a := c.Answer()
		look(&a, all.stuckJob(&a, s, now))
	}
	for _, s := range all.crons {
		c, err := cron.Read(ctx, src, s, history.Point{})
		if err != nil {
			return nil, 0, err
		}
		a := c.Answer()
		look(&a, all.stuckCron(&a, now))
	}
	return found, stuck, nil
}

// stuckJob says why a Job is stuck, according to its answer or its records; empty if it is not.
func (e *everything) stuckJob(a *explain.Answer, s events.Stream, now events.Time) string {
	if strings.HasPrefix(a.Verdict.Text, "STUCK") {
		return "the answer finds it stuck"
	}
	if a.State != string(history.StateWaiting) && a.State != string(history.StateRunning) ||
		strings.HasPrefix(a.Verdict.Text, "UNKNOWN") {
		return ""
	}
	type pod struct {
		waits string
		since events.Time
	}
	pods := map[types.UID]*pod{}
	var refused, noGroup *events.Record
	asks := false
	for _, r := range e.of[s] {
		switch f := r.Facts.(type) {
		case *events.PodSeen:
			switch p := pods[f.UID]; {
			case f.Phase.Terminal() || f.Deleted != 0:
				delete(pods, f.UID)
			case p == nil || p.waits != f.Waiting:
				pods[f.UID] = &pod{f.Waiting, r.Time}
			}
		case *events.PodGone:
			delete(pods, f.UID)
		case *events.JobSpec:
			asks = f.SchedulingPolicy == events.PolicyGang
		case *events.CommandEnded:
			if t := f.Type.Traits(); t != nil && t.Slot == events.SlotGroup {
				if noGroup = nil; f.Ending == events.Refused {
					noGroup = r
				}
			}
			if f.Type == events.CommandCreatePod {
				if refused = nil; f.Ending == events.Refused && f.Class.Passing() && f.Class != events.RefusedConflict {
					refused = r
				}
			}
		case *events.StoredState:
			return "" // this check does not cover Jobs with such records
		}
	}
	why := ""
	for _, p := range pods {
		if p.waits == "" || !slices.Contains(endless, p.waits) {
			return "" // a pod runs, or may run: the Job is not stuck
		}
		if now.Sub(p.since) > stuckFor {
			why = "a pod waits since long: " + p.waits
		}
	}
	if len(pods) == 0 && asks && noGroup != nil && now.Sub(noGroup.Time) > stuckFor {
		why = fmt.Sprintf("its PodGroup is refused, in record %d", noGroup.Sequence)
	}
	if len(pods) == 0 && refused != nil && now.Sub(refused.Time) > stuckFor {
		why = fmt.Sprintf("its pods are refused, in record %d", refused.Sequence)
	}
	return why
}

// cronTrouble are the first words of verdicts about CronJobs that start no Jobs, or whose Jobs do not end.
var cronTrouble = []string{"STUCK", "HELD BACK", "NOT STARTING", "STARVING", "UNFINISHED", "NEVER DUE"}

// stuckCron says why a CronJob is stuck, according to its answer; empty if it is not.
func (e *everything) stuckCron(a *explain.Answer, now events.Time) string {
	row := e.lists.cronJobs[a.UID]
	if row == nil {
		return ""
	}
	late := row.Due != nil && now.Sub(events.Time(row.Due.At)) > time.Minute+stuckFor
	switch {
	case (row.State == history.CronHeld || row.State == history.CronOverdue) && late:
		return "`get cronjobs` says " + string(row.State)
	case row.State == history.CronHeld: // it may be held back only for a moment
		return ""
	case slices.ContainsFunc(cronTrouble, func(begins string) bool { return strings.HasPrefix(a.Verdict.Text, begins) }):
		return "the answer finds that it starts no Jobs, or that none ends"
	}
	return ""
}

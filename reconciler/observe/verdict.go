package observe

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/job"
)

// verdict says how a Job ends (as a failure or not), and why; zero if it does not end.
type verdict struct {
	failure bool
	reason  events.Reason
}

// ends maps each condition that ends a Job, or announces its end, to whether it is a failure.
var ends = map[string]bool{ // true for a failure
	status.SuccessCriteriaMet: false, status.Complete: false,
	status.FailureTarget: true, status.Failed: true,
}

// stored returns the verdict (how the Job ends, and why) in the Job's published status.
func stored(j *projector.Job) verdict {
	v, _ := shown(j)
	return v
}

// shown returns the verdict (how the Job ends, and why) in the Job's published status, and the time of its condition.
func shown(j *projector.Job) (v verdict, since events.Time) {
	for _, c := range j.Base.Conditions {
		failure, isEnd := ends[c.Type]
		if isEnd && c.Status == "True" && (since == 0 || c.Since < since) {
			v, since = verdict{failure, events.Reason(c.Reason)}, c.Since
		}
	}
	return v, since
}

// expect notes the verdict (how the Job ends, and why) that a decision asks for.
func (x *watched) expect(d *reconciler.Decision) {
	for _, c := range d.Decision.Commands() {
		write, ok := c.(*events.WriteStatus)
		if !ok {
			continue
		}
		for _, k := range write.Change.Conditions {
			if failure, isEnd := ends[k.Type]; isEnd && k.Status == "True" {
				if x.ours == nil {
					x.ours = map[verdict]bool{}
				}
				x.ours[verdict{failure, events.Reason(k.Reason)}] = true
			}
		}
	}
}

// slack is the time that is added to the time of a verdict (how a Job ended) when our rules check it: the other
// controller's clock has whole seconds, and its start time of the Job may differ from ours. Example: a verdict of
// 12:00:10 is checked as of 12:00:12.
const slack = 2 * time.Second

// judge checks whether our decisions explain the verdict (how the Job ended, and why) in the Job's status. If it stays
// unexplained for the patience, judge returns a step for the log that says so. Before that, at is when the patience
// ends.
func (w *Watcher) judge(x *watched, j *projector.Job, now events.Time) (step *events.Step, at events.Time) {
	v, since := shown(j)
	switch {
	case v == (verdict{}) || v == x.judged || j.Gone:
		x.puzzled = 0
		return nil, 0
	case x.ours[v] || job.Explains(j, since.Add(slack), v.failure, v.reason):
		x.judged, x.puzzled = v, 0
		return nil, 0
	case x.puzzled == 0:
		x.puzzled = now
	}
	if at = x.puzzled.Add(w.patience); at > now {
		return nil, at
	}
	x.judged, x.puzzled = v, 0
	how := status.Complete
	if v.failure {
		how = status.Failed
	}
	return &events.Step{
		Stage: "outcome", Rule: "observe", Reason: reconciler.Unexplained, Sentence: fmt.Sprintf(
			"the Job ends as %s (%s), and nothing that was seen of it says so: %d succeeded, %d failed",
			how, v.reason, j.SucceededCount(), j.FailedCount()),
	}, 0
}

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

// verdict is how a Job ends; zero for none.
type verdict struct {
	failure bool
	reason  events.Reason
}

// ends maps the conditions with which a Job ends, or will end, to whether they are failures.
var ends = map[string]bool{ // true for a failure
	status.SuccessCriteriaMet: false, status.Complete: false,
	status.FailureTarget: true, status.Failed: true,
}

// stored returns the verdict in the Job's status.
func stored(j *projector.Job) verdict {
	v, _ := shown(j)
	return v
}

// shown returns that verdict and its time.
func shown(j *projector.Job) (v verdict, since events.Time) {
	for _, c := range j.Base.Conditions {
		failure, isEnd := ends[c.Type]
		if isEnd && c.Status == "True" && (since == 0 || c.Since < since) {
			v, since = verdict{failure, events.Reason(c.Reason)}, c.Since
		}
	}
	return v, since
}

// expect remembers the verdict that a decision asks for.
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

// slack is the tolerated difference of the other controller's clock, which is truncated to seconds, and its start time
// from ours.
const slack = 2 * time.Second

// judge checks whether our decisions explain the verdict in the status. If it stays unexplained for the patience,
// judge returns a step that says so; at is when that will be.
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

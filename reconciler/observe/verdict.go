package observe

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// verdict is how a Job ends. The zero verdict is none.
type verdict struct {
	failure bool
	reason  events.Reason
}

// ends are the conditions with which a Job ends, or is about to.
var ends = map[string]bool{ // is it a failure?
	status.SuccessCriteriaMet: false, status.Complete: false,
	status.FailureTarget: true, status.Failed: true,
}

// stored is the verdict that the Job's status shows.
func stored(j *projector.Job) verdict {
	v, _ := shown(j)
	return v
}

// shown is that verdict, and since when.
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

// slack is how far the other controller's clock, which is cut to seconds, and the start that it counts from may differ
// from what we saw.
const slack = 2 * time.Second

// judge looks whether the verdict that the status shows is one that we would have come to. It says so in a step once it
// has stayed unexplained for the patience; at is when that will be.
func (w *Watcher) judge(x *watched, j *projector.Job, now events.Time) (step *events.Step, at events.Time) {
	v, since := shown(j)
	switch {
	case v == (verdict{}) || v == x.judged || j.Gone:
		x.puzzled = 0
		return nil, 0
	case x.ours[v] || reconciler.Explains(j, since.Add(slack), v.failure, v.reason):
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

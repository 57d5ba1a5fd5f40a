package explain

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// settling is what settled the Job's end.
type settling struct {
	Rule    string
	Reason  string
	Message string // of the condition
	Failure bool

	Decided Mark // our decision; none for a Job of another controller
	Causes  []events.Sequence
	Stored  Mark // the record that the API server stored the verdict
	Seen    Mark // the first status that shows the verdict
	Over    Mark // the first status that shows the Job as finished

	// Same means that another controller runs the Job, and our rules reach the same end from the records before its
	// status changed. Evidence is the last record that they needed.
	Same     bool
	Evidence Mark
}

// ends maps the conditions with which a Job ends, or is about to end, to whether they are a failure.
var ends = map[string]bool{
	status.SuccessCriteriaMet: false, status.Complete: false,
	status.FailureTarget: true, status.Failed: true,
}

// settlingOf returns the step of a decision that ends the Job; nil for none.
func settlingOf(steps []events.Step, at Mark) *settling {
	for i := range steps {
		for _, command := range steps[i].Commands {
			write, ok := command.(*events.WriteStatus)
			if !ok {
				continue
			}
			for _, k := range write.Change.Conditions {
				if failure, isEnd := ends[k.Type]; isEnd && k.Status == "True" {
					return &settling{Rule: steps[i].Rule, Reason: k.Reason, Message: k.Message, Failure: failure, Decided: at}
				}
			}
		}
	}
	return nil
}

// seeStatus notes what an observation shows about the Job's end.
func (c *Case) seeStatus(r *events.Record, f *events.JobSeen) {
	j := c.folded
	if j == nil {
		return
	}
	var shown *events.JobCondition
	for i, k := range j.Base.Conditions {
		if _, isEnd := ends[k.Type]; isEnd && k.Status == "True" {
			shown = &j.Base.Conditions[i]
			break
		}
	}
	if shown == nil {
		c.settled = c.unstored(r)
		return
	}
	failure := ends[shown.Type]
	// It is not our decision.
	if c.settled == nil || c.settled.Failure != failure || c.settled.Reason != shown.Reason {
		c.settled = &settling{Reason: shown.Reason, Message: shown.Message, Failure: failure}
		if s := c.spare; s != nil && s.Failure == failure && s.Reason == shown.Reason {
			c.settled.Rule, c.settled.Same, c.settled.Evidence = s.Rule, true, s.Evidence
		}
	}
	if c.settled.Message == "" {
		c.settled.Message = shown.Message
	}
	if c.settled.Seen.Record == 0 {
		c.settled.Seen = markOf(r)
		if c.settled.Stored.Record == 0 {
			c.settled.Stored = c.settled.Seen
		}
	}
	if c.settled.Over.Record == 0 && j.Finished() {
		c.settled.Over = markOf(r)
	}
}

// unstored returns our decision while the status does not show it. It returns nil if a newer version of the Job
// overtook the decision, and the write was refused.
func (c *Case) unstored(r *events.Record) *settling {
	if c.settled != nil && c.settled.Seen.Record == 0 && c.folded.Write() != nil {
		return c.settled
	}
	return nil
}

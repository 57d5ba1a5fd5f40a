package projector

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestTheTextsOfAStateAreReadAsTheyWereLeft: a stored state keeps its texts apart from its facts, in one list. The
// messages of the published conditions come first, then those of the status write in flight.
func TestTheTextsOfAStateAreReadAsTheyWereLeft(t *testing.T) {
	r := newRandomJob(1)
	r.see(&events.JobStatus{
		Ready: events.Unset, Terminating: events.Unset,
		Conditions: []events.JobCondition{{Type: status.Suspended, Status: "True", Message: "as published"}},
	})
	r.record(events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Commands: []events.Command{
		&events.WriteStatus{Base: r.job.Version, Change: events.StatusChange{
			Conditions: []events.JobCondition{{Type: status.FailureTarget, Status: "True", Message: "as it is written"}},
		}},
	}}}})
	again, _, err := Restore(stateOf(r.world))
	if err != nil {
		t.Fatal(err)
	}
	j := again.Job(r.job.Stream)
	if got := j.Base.Conditions[0].Message; got != "as published" {
		t.Errorf("the published message is %q after the wire", got)
	}
	if got := j.Write().Command.(*events.WriteStatus).Change.Conditions[0].Message; got != "as it is written" {
		t.Errorf("the message that is being written is %q after the wire", got)
	}
}

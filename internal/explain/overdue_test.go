package explain_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// TestADeadlineIsOverOnceItIs: another controller has not started a due time, as a Job of before runs. That startingDeadlineSeconds was over
// is said only of a time that the log has come to.
func TestADeadlineIsOverOnceItIs(t *testing.T) {
	for last, over := range map[string]bool{"10:00:20": false, "10:00:30": false, "10:00:31": true, "10:20:00": true} {
		l := newCronSeen(t, false)
		seconds := int64(30)
		run := &events.RunSeen{Job: types.UID("uid-a"), Name: "report-a", Created: cronClock("09:00:00"), Due: cronClock("09:00:00")}
		seen := &events.CronJobSeen{Schedule: "0 * * * *", Policy: "Forbid", Created: cronClock("08:59:00"), Deadline: &seconds}
		l.add("08:59:00", l.of, events.KindCronJobAdded, seen)
		l.add("09:00:00", l.of, events.KindRunSeen, run)
		active := *seen
		active.Active, active.LastSchedule = []events.RunName{{UID: run.Job, Name: run.Name}}, cronClock("09:00:00")
		l.add("09:00:00", l.of, events.KindCronJobChanged, &active)
		l.add("10:00:01", events.Controller, events.KindControllerStopped, &events.ControllerStopped{})
		l.add(last, l.of, events.KindCronJobChanged, &active)
		says := l.whyNot("10:00:00")
		if !strings.Contains(says, "report-a ran, and the policy is Forbid") || strings.Contains(says, "was over") != over {
			t.Errorf("the log ends at %s: %s", last, says)
		}
		if strings.Contains(says, "merges into") {
			t.Errorf("the log ends at %s, and the next due time comes after the deadline: %s", last, says)
		}
	}
}

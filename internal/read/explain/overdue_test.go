package explain_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestADeadlineIsOverOnceItIs: another controller has not started a due time, as a Job of before runs. That
// startingDeadlineSeconds was over is said only of a time that the log has come to.
func TestADeadlineIsOverOnceItIs(t *testing.T) {
	for _, row := range []struct {
		last string
		over bool
	}{{"10:00:20", false}, {"10:00:30", false}, {"10:00:31", true}, {"10:20:00", true}} {
		last, over := row.last, row.over
		l := newCronSeen(t, false)
		seconds := int64(30)
		run := &events.RunSeen{Job: types.UID("uid-a"), Name: "report-a", Created: cronClock("09:00:00"), Due: cronClock("09:00:00")}
		seen := &events.CronJobSeen{Version: 1, Schedule: "0 * * * *", Policy: "Forbid", Created: cronClock("08:59:00"), Deadline: &seconds}
		l.add("08:59:00", l.of, events.KindCronJobAdded, seen)
		l.add("09:00:00", l.of, events.KindRunSeen, run)
		active := *seen
		active.Active, active.LastSchedule = []events.RunName{{UID: run.Job, Name: run.Name}}, cronClock("09:00:00")
		l.add("09:00:00", l.of, events.KindCronJobChanged, &active)
		l.add("10:00:01", events.Controller, events.KindControllerStopped, &events.ControllerStopped{})
		l.add(last, l.of, events.KindCronJobChanged, &active)
		says := l.whyNot("10:00:00")
		keepAll(t, l.source())
		c, err := cron.Read(t.Context(), l.source(), l.of, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		for _, x := range append(all(&a), a.Verdict) {
			if strings.Contains(x.Text, "this due time starts at once") == over && strings.Contains(x.Text, "the end of that Job") {
				t.Errorf("the log ends at %s: %s", last, x.Text)
			}
		}
		if strings.Contains(a.Verdict.Text, "startingDeadlineSeconds 30 was over") != over {
			t.Errorf("the log ends at %s: %s", last, a.Verdict.Text)
		}
		if !strings.Contains(says, "report-a had not ended, and the policy is Forbid") || strings.Contains(says, "was over") != over {
			t.Errorf("the log ends at %s: %s", last, says)
		}
		if strings.Contains(says, "merges into") {
			t.Errorf("the log ends at %s, and the next due time comes after the deadline: %s", last, says)
		}
	}
}

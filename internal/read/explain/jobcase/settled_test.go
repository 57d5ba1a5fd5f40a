package jobcase

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestHowTheEndOfAJobWasSettled: the first condition that is an end and true, of a decision; and of a status.
func TestHowTheEndOfAJobWasSettled(t *testing.T) {
	write := func(kinds ...string) []events.Step {
		w := &events.WriteStatus{}
		for _, k := range kinds {
			kind, is, _ := strings.Cut(k, "=")
			w.Change.Conditions = append(w.Change.Conditions, events.JobCondition{Type: kind, Status: is, Reason: "R" + kind,
				Message: "m"})
		}
		return []events.Step{{Rule: "other", Commands: []events.Command{&events.CreatePod{}}}, {Rule: "rule",
			Commands: []events.Command{w}}}
	}
	for want, steps := range map[string][]events.Step{
		"":                              write(status.Suspended + "=True"),
		"RFailed true":                  write(status.Suspended+"=True", status.Failed+"=True"),
		"RFailureTarget true":           write(status.FailureTarget+"=True", status.Failed+"=True"),
		"RComplete false":               write(status.Failed+"=False", status.Complete+"=True"),
		"RSuccessCriteriaMet false":     write(status.SuccessCriteriaMet + "=True"),
		"RSuccessCriteriaMet false\x00": write(status.SuccessCriteriaMet+"=True", status.Failed+"=Unknown"),
	} {
		got := ""
		if s := settlingOf(steps, whentest.Seen(3, 3)); s != nil {
			if got = fmt.Sprintf("%s %t", s.Reason, s.Failure); s.Rule != "rule" || s.Message != "m" ||
				s.Decided != whentest.Seen(3, 3) {
				t.Errorf("%+v", s)
			}
		}
		if got != strings.TrimSuffix(want, "\x00") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if settlingOf(nil, whentest.Seen(3, 3)) != nil {
		t.Error("no step settles it")
	}
}

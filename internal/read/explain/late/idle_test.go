package late

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAJobThatWasIdleAtItsDeadline: it had no pod in second 62, when its deadline passed, since no Jobledger watched
// from second 20 to the decision in second 90. Its last try ended in second 10.
func TestAJobThatWasIdleAtItsDeadline(t *testing.T) {
	const away = " while no pod ran, as no Jobledger watched from 20:27:00 to 20:28:10"
	for _, row := range []struct {
		name   string
		change func(*jobcase.Case)
		want   string
	}{
		{"it was", nil, away},
		{"it never had a pod", func(c *jobcase.Case) { c.Tries, c.Gaps[0].From = nil, whentest.Recorded(2) },
			" while no pod ran, as no Jobledger watched from 20:26:42 to 20:28:10"},
		{"its pod runs", func(c *jobcase.Case) { c.Tries[0].Ended = explain.Mark{} }, ""},
		{"its pod ended with the deadline", func(c *jobcase.Case) { c.Tries[0].Ended = whentest.Seen(8, 62) }, ""},
		{"its pod ended just before", func(c *jobcase.Case) {
			c.Tries[0].Ended, c.Gaps[0].From = whentest.Seen(8, 61.9), whentest.Recorded(61.9)
		}, " while no pod ran, as no Jobledger watched from 20:27:41 to 20:28:10"},
		{"an edit let it go on, with the deadline", func(c *jobcase.Case) {
			c.Edits = []jobcase.Edit{{At: whentest.Seen(9, 62), Before: &events.JobSpec{Suspend: true}, After: c.Spec}}
		}, ""},
		{"another controller's", func(c *jobcase.Case) { c.Reigns[0].Hands = jobcase.OtherHands }, ""},
		{"only its status says so", func(c *jobcase.Case) { c.Settled.Decided = explain.Mark{} }, ""},
		{"its creates were refused",
			func(c *jobcase.Case) { c.Refusals = []*jobcase.Refusal{{Kind: events.CommandCreatePod}} }, ""},
		{"another refusal", func(c *jobcase.Case) { c.Refusals = []*jobcase.Refusal{{Kind: events.CommandDeletePod}} }, away},
		{"it has no deadline", func(c *jobcase.Case) { c.Spec.ActiveDeadlineSeconds = nil }, ""},
		{"several pods at once", func(c *jobcase.Case) { c.Spec.Parallelism = new(int32(2)) }, ""},
		{"nothing shows why", func(c *jobcase.Case) { c.Gaps = nil }, ""},
	} {
		c := lateCase(func(c *jobcase.Case) {
			c.Spec.ActiveDeadlineSeconds = new(int64(60))
			c.Settled = &jobcase.Settling{Reason: "DeadlineExceeded", Decided: whentest.Seen(30, 90)}
			c.Tries = []*try.Try{{Index: events.NoIndex, Ended: whentest.Seen(8, 10), Again: whentest.Sec(20)}}
			c.Gaps = []*history.Gap{{From: whentest.Recorded(20), Until: whentest.Recorded(90), Reason: "start", Listing: 28,
				Synced: 29}}
			c.Src = &whentest.Log{}
		})
		if row.change != nil {
			row.change(c)
		}
		text, from := IdleAtDeadline(c)
		if text != row.want || (len(from) > 0) != (text != "") {
			t.Errorf("%s: %q by %v, want %q", row.name, text, from, row.want)
		}
	}
}

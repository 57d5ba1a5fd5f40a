package attempts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/projector"
)

// caseOf has tries of a running Job: one letter each, s for one that succeeded, f for one that failed, d for one that
// failed by a disruption, i for one that the policy ignores, and r for one that runs.
func caseOf(tries string) *jobcase.Case {
	c := &jobcase.Case{Misses: &explain.Misses{}, Added: whentest.Seen(3, 1)}
	c.Job.Created, c.Job.AsOf.Time, c.Job.State = whentest.Recorded(1), whentest.Recorded(100), history.StateRunning
	for i, letter := range tries {
		t := &try.Try{Pod: fmt.Sprint("p", i), Index: events.NoIndex, Number: i + 1, Seen: whentest.Seen(4, 2),
			Judged: &try.Ending{By: try.ByItself}}
		if letter != 'r' {
			t.Ended, t.Phase = whentest.Seen(events.Sequence(10+i), 10), events.PodFailed
		}
		switch letter {
		case 's':
			t.Phase, t.Counted = events.PodSucceeded, try.CountedSucceeded
		case 'f':
			t.Counted = try.CountedFailed
		case 'd':
			t.Counted, t.Judged = try.CountedFailed, &try.Ending{By: try.ByEviction}
		case 'i':
			t.Counted = try.CountedIgnored
		case 'r':
			t.Judged = &try.Ending{By: try.ByNobody}
		}
		c.Tries = append(c.Tries, t)
	}
	return c
}

// TestTheSumOfTries counts them by how they ended, and says what the list lacks.
func TestTheSumOfTries(t *testing.T) {
	over := func(c *jobcase.Case, succeeded, failed int32) {
		c.Job.State, c.Settled = history.StateFailed, &jobcase.Settling{Over: whentest.Seen(50, 50)}
		w, of := projector.NewWorld(), events.JobStream("uid-demo")
		w.Apply(&events.Record{Header: events.Header{Sequence: 1, Time: whentest.Sec(1), Stream: of, Kind: events.KindJobAdded},
			Facts: &events.JobSeen{Version: 1, Managed: true, Status: &events.JobStatus{Succeeded: succeeded, Failed: failed,
				Conditions: []events.JobCondition{{Type: "Failed", Status: "True"}}}}})
		c.Folded = w.Job(of)
	}
	for _, row := range []struct {
		tries  string
		change func(*jobcase.Case)
		want   string
	}{
		{"", nil, "0 tries · 0 succeeded, 0 failed"},
		{"s", nil, "1 try · 1 succeeded, 0 failed"},
		{"sffr", nil, "4 tries · 1 succeeded, 2 failed"},
		{"fd", nil, "2 tries · 0 succeeded, 2 failed (1 disruption)"},
		{"fdd", nil, "3 tries · 0 succeeded, 3 failed (2 disruptions)"},
		{"fi", nil, "2 tries · 0 succeeded, 1 failed, 1 ignored by the podFailurePolicy"},
		{"", func(c *jobcase.Case) { c.Added = explain.Mark{} }, "no tries in the records that are kept"},
		{"", func(c *jobcase.Case) { c.Added, c.Resumed = explain.Mark{}, 7 }, "no tries in the records that can be read"},
		{"", func(c *jobcase.Case) { c.Cut = true }, "no tries in the records that can be read"},
		{"f", func(c *jobcase.Case) { c.Cut = true }, "1 try in the records that can be read · 0 succeeded, 1 failed"},
		{"f", func(c *jobcase.Case) { c.Resumed = 7 }, "1 try · 0 succeeded, 1 failed"},
		{"f", func(c *jobcase.Case) { c.Added = explain.Mark{} }, "1 try in the records that are kept · 0 succeeded, 1 failed"},
		{"f", func(c *jobcase.Case) { over(c, 0, 1); c.Cut = true }, "1 try · 0 succeeded, 1 failed"},
		{"f", func(c *jobcase.Case) { over(c, 0, 2) }, "1 try · 0 succeeded, 1 failed · the status counts 0 succeeded, 2 failed"},
		{"s", func(c *jobcase.Case) { over(c, 2, 0) }, "1 try · 1 succeeded, 0 failed · the status counts 2 succeeded, 0 failed"},
		{"s", func(c *jobcase.Case) { c.Folded = &projector.Job{} }, "1 try · 1 succeeded, 0 failed"},
		{"sf", func(c *jobcase.Case) {
			c.Folded = &projector.Job{}
			c.Folded.Indexed, c.Tries[0].Index, c.Tries[1].Index = true, 0, 1
		}, "2 tries, 2 indexes · 1 succeeded, 1 failed"},
		{"ff", func(c *jobcase.Case) {
			c.Folded = &projector.Job{}
			c.Folded.Indexed, c.Tries[0].Index, c.Tries[1].Index = true, 3, 3
		}, "2 tries, 1 indexes · 0 succeeded, 2 failed"},
		{"f", func(c *jobcase.Case) {
			c.Gaps = []*history.Gap{{From: whentest.Recorded(20), Until: whentest.Recorded(30), Listing: 8}}
		}, "1 try · 0 succeeded, 1 failed · history has 1 gap"},
		{"f", func(c *jobcase.Case) { c.Unrecorded.Versions = 3 },
			"1 try · 0 succeeded, 1 failed · not all is recorded: the log's budget (explain says what)"},
	} {
		c := caseOf(row.tries)
		if row.change != nil {
			row.change(c)
		}
		if got := Sum(c); got != row.want {
			t.Errorf("%s: %q\nwant %q", row.tries, got, row.want)
		}
	}
}

// TestAPageOfTries has those of the page, by index and number, and counts all.
func TestAPageOfTries(t *testing.T) {
	c := caseOf("sfrdf")
	for i, index := range []int32{2, 0, 1, 0, 1} {
		c.Tries[i].Index, c.Tries[i].Number = index, []int{1, 2, 2, 1, 1}[i]
	}
	for _, row := range []struct {
		failed     bool
		from, most int
		want       string
		all        int
	}{
		{false, 0, 0, "p3 p1 p4 p2 p0", 5}, {false, 0, 2, "p3 p1", 5}, {false, 2, 2, "p4 p2", 5}, {false, 4, 2, "p0", 5},
		{false, 5, 2, "", 5}, {false, 9, 0, "", 5}, {false, 0, 5, "p3 p1 p4 p2 p0", 5}, {false, 0, 6, "p3 p1 p4 p2 p0", 5},
		{true, 0, 0, "p3 p1 p4", 3}, {true, 1, 1, "p1", 3},
	} {
		rows, all := Rows(c, row.failed, row.from, row.most)
		var names []string
		for i := range rows {
			names = append(names, rows[i].Pod)
		}
		if got := strings.Join(names, " "); got != row.want || all != row.all || c.Tries[0].Pod != "p0" {
			t.Errorf("%+v: %s of %d; the Job's first is now %s", row, got, all, c.Tries[0].Pod)
		}
	}
}

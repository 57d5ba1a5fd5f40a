package explain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAMomentInAGap: of a moment at which nobody watched no answer says how the Job or its pods were. It says how they
// were seen last, and from when to when nobody watched. Before and behind the gap nothing is unknown.
func TestAMomentInAGap(t *testing.T) {
	src := observed(t)
	s := src.job(t, "killed/longhaul-west")
	gaps, err := history.AllGaps(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	var from, until events.Time
	for _, g := range gaps {
		if from == 0 && g.From != 0 {
			from, until = events.Time(g.From), events.Time(g.Until)
		}
	}
	if until.Sub(from) < 2*time.Second {
		t.Fatalf("the gap is from %v to %v", from, until)
	}
	for _, row := range []struct {
		name   string
		at     events.Time
		unseen bool
	}{
		{"before it", from.Add(-time.Millisecond), false},
		{"in it", from.Add(time.Second), true},
		{"behind it", until.Add(time.Second), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := job.Read(t.Context(), src, s, history.Point{Time: row.at})
			if err != nil {
				t.Fatal(err)
			}
			keepJob(t, src, s, history.Point{Time: row.at})
			a := c.Answer()
			says := strings.HasPrefix(a.Verdict.Text, "UNKNOWN at ") && strings.Contains(a.Verdict.Text, "not watched from ") &&
				strings.Contains(a.Verdict.Text, "Seen last: RUNNING for ")
			if says != row.unseen || row.unseen && len(a.Gaps) != 1 {
				t.Errorf("the answer says %q, with %d gaps", a.Verdict.Text, len(a.Gaps))
			}
			rows, _ := c.Attempts(false, 0, 0)
			for _, r := range rows {
				if r.EndedBy == try.ByNobody && r.Unseen != row.unseen {
					t.Errorf("of pod %s it says unseen: %t", r.Pod, r.Unseen)
				}
			}
			p, err := c.PodAnswer(rows[0].Pod)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.HasPrefix(p.Verdict.Text, "UNKNOWN at "); got != row.unseen {
				t.Errorf("of the pod the answer says %q", p.Verdict.Text)
			}
		})
	}
}

// TestAJobThatIsOlderThanTheLog: the first listing of a log finds a Job that was created long before. Nobody watched
// until then, so its history is not complete, and no gap is not ruled out. Of a Job that is created in front of the
// log's eyes that says nothing.
func TestAJobThatIsOlderThanTheLog(t *testing.T) {
	src := observed(t)
	s := src.job(t, "backoff-limit/etl-orders")
	answer := func() (explain.Answer, string) {
		c, err := job.Read(t.Context(), src, s, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		var said []string
		for _, section := range a.Sections {
			for _, x := range section.Sentences {
				said = append(said, section.Head+" "+x.Text)
			}
		}
		return a, strings.Join(said, "\n")
	}
	const watched, older = "it was watched all the time", "this log begins there, and the Job is older"
	if a, said := answer(); len(a.Gaps) != 0 || !strings.Contains(said, watched) || strings.Contains(said, older) {
		t.Errorf("of a Job that was watched it says, with %d gaps:\n%s", len(a.Gaps), said)
	}
	src.records = slices.Clone(src.records)
	for i := range src.records {
		r := &src.records[i]
		if f, ok := r.Facts.(*events.JobSeen); ok && r.Stream == s {
			seen := *f
			seen.Created = seen.Created.Add(-10 * time.Minute)
			r.Facts = &seen
		}
	}
	keepJob(t, src, s, history.Point{})
	if a, said := answer(); len(a.Gaps) != 1 || a.Gaps[0].From != 0 || strings.Contains(said, watched) || !strings.Contains(said, older) {
		t.Errorf("of a Job that is older than the log it says, with %d gaps:\n%s", len(a.Gaps), said)
	}
}

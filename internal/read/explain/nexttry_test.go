package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestTheNextTry: until when the next try has to wait is told while one may come, and is never later than that came. Of
// a try that failed the Job nothing is told to come, before and after its status says so.
func TestTheNextTry(t *testing.T) {
	limit := func(n int32) func(*sceneJob) { return func(j *sceneJob) { j.spec.BackoffLimit = &n } }
	begin := func(l *scene, n int32) *sceneJob {
		j := l.job("09:00:00", "demo", "", limit(n))
		j.starts("09:00:01")
		j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").fails("09:00:05", 1, "")
		return j
	}
	failed := func(j *sceneJob, clock string) {
		j.stat.Failed = 1
		j.ends(clock, status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	}
	for _, row := range []struct {
		name string
		ours bool
		play func(l *scene)
		want string // of the first try; empty for none
	}{
		{"it may come", false, func(l *scene) { begin(l, 6) }, "09:00:15"},
		{"by our rules it failed the Job", false, func(l *scene) {
			begin(l, 0)
			l.node("09:00:06", "node-9", func(*events.NodeSeen) {})
		}, ""},
		{"it failed the Job", false, func(l *scene) { failed(begin(l, 0), "09:00:06") }, ""},
		{"it failed the Job, which took its time", false, func(l *scene) { failed(begin(l, 0), "09:00:40") }, ""},
		{"the Job fails", true, func(l *scene) {
			j := begin(l, 0)
			j.decides("09:00:06", "BackoffLimitExceeded", "1 failure", &events.WriteStatus{Change: events.StatusChange{Conditions: []events.JobCondition{{
				Type: status.FailureTarget, Status: "True", Reason: "BackoffLimitExceeded",
			}}}})
		}, ""},
		{"the Job is being deleted", false, func(l *scene) {
			j := begin(l, 6)
			j.seen.Deleted = cronClock("09:00:07")
			j.see("09:00:07", events.KindJobChanged)
		}, ""},
		{"it came a second earlier", false, func(l *scene) { begin(l, 6).pod("09:00:14", "demo-b", nil).runs("09:00:14", "node-1") }, "09:00:14"},
		{"it came in time, and its node's clock is behind", false, func(l *scene) {
			begin(l, 6).pod("09:00:16", "demo-b", nil).runs("09:00:17", "node-1").see("09:00:18", func(p *scenePod) { p.e.Running = cronClock("09:00:13") })
		}, "09:00:13"},
		{"it came later", false, func(l *scene) { begin(l, 6).pod("09:00:20", "demo-b", nil).runs("09:00:21", "node-1") }, "09:00:15"},
		{"it came, and the Job is over", false, func(l *scene) {
			j := begin(l, 6)
			j.pod("09:00:20", "demo-b", nil).runs("09:00:21", "node-1").succeeds("09:00:25")
			j.stat.Succeeded, j.stat.Failed = 1, 1
			j.ends("09:00:26", status.Complete, "CompletionsReached", "")
		}, "09:00:15"},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, row.ours)
			row.play(l)
			j := &sceneJob{l: l, of: events.JobStream("uid-demo")}
			c := j.caseOf(0)
			rows, _ := c.Attempts(false, 0, 0)
			next, want := events.Time(rows[0].Next), events.Time(0)
			if row.want != "" {
				want = cronClock(row.want)
			}
			if next != want {
				t.Errorf("the next try is not before %s, want %q", next.Go(), row.want)
			}
			pod, err := c.PodAnswer("demo-a")
			if err != nil {
				t.Fatal(err)
			}
			if got := under(&pod, "COUNTED"); strings.Contains(got, "the next try") != (row.want != "") || !strings.Contains(got, row.want) {
				t.Errorf("it counted %q", got)
			}
			for _, lane := range c.Timeline(0).Rows {
				for _, s := range lane.Spans {
					if s.What == "backoff" && row.want == "" {
						t.Errorf("the timeline has a backoff from %s on", events.Time(s.From).Go())
					}
				}
			}
		})
	}
}

// TestAPodThatSucceedsAsItsJobFails: we fail a Job and delete its other pod, which ends well all the same. The status
// counts it as a failure from its deletion on (J-022), and what is told of it is what the status says, then and in the
// end.
func TestAPodThatSucceedsAsItsJobFails(t *testing.T) {
	for _, row := range []struct {
		name              string
		failed, succeeded int32
		want              try.Counted
	}{{"it is a failure", 2, 0, try.CountedFailed}, {"it is a success", 1, 1, try.CountedSucceeded}, {"it is neither", 1, 0, try.CountedNot}} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, true)
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.spec.BackoffLimit, j.spec.Parallelism, j.spec.Completions = new(int32(0)), new(int32(2)), new(int32(2))
			})
			j.starts("09:00:01")
			a, b := j.pod("09:00:01", "demo-a", nil), j.pod("09:00:01", "demo-b", nil)
			a.runs("09:00:02", "node-1")
			b.runs("09:00:02", "node-1")
			a.fails("09:00:05", 1, "")
			conditions := []events.JobCondition{{Type: status.FailureTarget, Status: "True", Reason: "BackoffLimitExceeded"}}
			del := &events.DeletePod{Pod: b.f.UID}
			d := j.decides("09:00:06", "JobFailing", "1 failure", &events.WriteStatus{Change: events.StatusChange{Conditions: conditions}}, del)
			j.ended("09:00:06", d, del, events.Done, 0, "")
			b.deleted("09:00:06", 30)
			b.succeeds("09:00:09")
			j.stat.Failed, j.stat.Succeeded = row.failed, row.succeeded
			j.ends("09:00:10", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
			b.gone("09:00:11")
			neverFalse(t, l.source())
			c := j.caseOf(0)
			rows, _ := c.Attempts(false, 0, 0)
			if rows[1].Pod != "demo-b" || rows[1].Counted != row.want {
				t.Errorf("%s counted %q, want %q", rows[1].Pod, rows[1].Counted, row.want)
			}
			if sum := c.Sum(); strings.Contains(sum, "the status counts") {
				t.Errorf("the foot says %q", sum)
			}
			pod, err := c.PodAnswer("demo-b")
			if err != nil {
				t.Fatal(err)
			}
			says := map[try.Counted]string{
				try.CountedFailed: "failure 2 of the Job", try.CountedSucceeded: "as a success", try.CountedNot: "neither as a success nor as a failure",
			}[row.want]
			if got := under(&pod, "COUNTED"); !strings.HasPrefix(got, says) {
				t.Errorf("it counted %q, want %q", got, says)
			}
		})
	}
}

// TestAPodThatIsOverItsOwnLimit: its own deadline, or its own limit of storage, ended it: not itself, nor its node.
func TestAPodThatIsOverItsOwnLimit(t *testing.T) {
	for _, row := range []struct {
		reason, message string
		want            try.By
	}{
		{"DeadlineExceeded", "Pod was active on the node longer than the specified deadline", try.ByDeadline},
		{"Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 10Mi.", try.ByOwnLimit},
		{"Evicted", "The node was low on resource: memory.", try.ByKubelet},
	} {
		l := newScene(t, false)
		j := l.job("09:00:00", "demo", "", nil)
		j.starts("09:00:01")
		p := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
		p.see("09:00:32", func(p *scenePod) {
			p.f.Phase, p.e.Reason, p.e.Message = events.PodFailed, row.reason, row.message
		})
		rows, _ := j.caseOf(0).Attempts(false, 0, 0)
		if rows[0].EndedBy != row.want {
			t.Errorf("%s: ended by %q, want %q", row.message, rows[0].EndedBy, row.want)
		}
	}
}

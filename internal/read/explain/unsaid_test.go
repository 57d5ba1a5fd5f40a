package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestWhatNobodyRecordsIsSaidOnce: by whom a pod was evicted stands in the verdict if that tells of the eviction, and
// otherwise with the pod: also if the verdict quotes somebody in the same words.
func TestWhatNobodyRecordsIsSaidOnce(t *testing.T) {
	for name, row := range map[string]struct {
		ends    func(j *sceneJob)
		verdict bool
	}{
		"the verdict tells of it": {func(j *sceneJob) {
			j.ends("09:00:20", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
		}, true},
		"the verdict tells of something else": {func(j *sceneJob) {
			j.edit("09:00:20", "kubectl-edit", func(s *events.JobSpec) { s.Suspend = true })
		}, false},
		"the verdict quotes somebody": {func(j *sceneJob) {
			j.edit("09:00:20", "who it is, and "+explain.ByWhom, func(s *events.JobSpec) { s.Suspend = true })
		}, false},
	} {
		for mode, ours := range map[string]bool{"ours": true, "observed": false} {
			t.Run(name+", "+mode, func(t *testing.T) {
				l := newScene(t, ours)
				j := l.job("09:00:00", "etl", "", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(0)) })
				j.starts("09:00:01")
				p := j.pod("09:00:01", "etl-a", nil).runs("09:00:03", "node-1")
				p.see("09:00:10", func(p *scenePod) {
					p.disrupted("EvictionByEvictionAPI", "Eviction API: evicting", "09:00:10")
					p.f.Deleted, p.f.DeletionGracePeriodSeconds = cronClock("09:00:10").Add(30*time.Second), new(int64(30))
				})
				p.fails("09:00:12", 143, "").counted("09:00:13")
				p.gone("09:00:14")
				row.ends(j)
				c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
				if err != nil {
					t.Fatal(err)
				}
				a := c.Answer()
				pods := ""
				for _, s := range a.Sections {
					for _, x := range s.Sentences {
						if s.Head == explain.HeadPods {
							pods += x.Text + "\n"
						}
					}
				}
				if !strings.Contains(pods, "evicted through the eviction API") || strings.Contains(pods, explain.ByWhom) == row.verdict {
					t.Errorf("%s\nPODS %s", a.Verdict.Text, pods)
				}
				if got := len(a.Verdict.Unsaid) == 1 && a.Verdict.Unsaid[0] == explain.ByWhom; got != row.verdict {
					t.Errorf("the verdict is marked with %q: %s", a.Verdict.Unsaid, a.Verdict.Text)
				}
			})
		}
	}
}

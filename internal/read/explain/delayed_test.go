package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestWhatDelayedAJobThatCompleted: a Job completes late, as no pod was wanted at first, and its answer says so before
// the dates. A Job that ran for the longer part says nothing of it, nor one that was held up for less than 5 s.
func TestWhatDelayedAJobThatCompleted(t *testing.T) {
	suspended := func(on bool) func(*events.JobSpec) { return func(s *events.JobSpec) { s.Suspend = on } }
	parallel := func(n int32) func(*events.JobSpec) { return func(s *events.JobSpec) { s.Parallelism = &n } }
	for _, row := range []struct {
		name         string
		first, then  func(*events.JobSpec)
		lifted, ends string
		says         string
		spends       string
	}{
		{"suspended", suspended(true), suspended(false), "09:00:20", "09:00:30",
			"WAITED no pod was wanted for 20s: the Job was suspended until 09:00:20 (field manager kubectl-patch)", "suspended 20s"},
		{"without parallelism", parallel(0), parallel(1), "09:00:20", "09:00:30",
			"WAITED no pod was wanted for 20s: parallelism was 0 until 09:00:20 (field manager kubectl-patch)", "parallelism 0 20s"},
		{"without parallelism, and runs for longer", parallel(0), parallel(1), "09:00:20", "09:00:50", "", "parallelism 0 20s"},
		{"without parallelism for 4 s", parallel(0), parallel(1), "09:00:04", "09:00:07", "", "parallelism 0 4s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, false)
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { row.first(&j.spec) })
			j.edit(row.lifted, "kubectl-patch", row.then)
			j.pod(row.lifted, "demo-a", nil).runs(row.lifted, "node-1").succeeds(row.ends)
			j.ends(row.ends, status.Complete, "CompletionsReached", "")
			c, err := job.Read(t.Context(), history.Local{Log: l.log}, j.of, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			waited, spent := "", ""
			for _, s := range c.Answer().Sections {
				switch s.Head {
				case "WAITED":
					waited = "WAITED " + s.Sentences[0].Text
				case "TIME":
					spent = s.Sentences[0].Text
				}
			}
			if waited != row.says || !strings.Contains(spent, row.spends) {
				t.Errorf("it says %q and TIME %q, want %q and %q", waited, spent, row.says, row.spends)
			}
		})
	}
}

// TestAWaitEndsWhereThePodRan: a kubelet tells late that a pod has run. By the node's clock the pod began 4 s after its
// wait was seen, so an answer may not say that it waited until its end was seen.
func TestAWaitEndsWhereThePodRan(t *testing.T) {
	l := newScene(t, true)
	j := l.job("09:00:00", "demo", "", nil)
	p := j.pod("09:00:01", "demo-a", nil)
	p.see("09:00:10", waits("ContainerCreating", "main", ""))
	p.see("09:00:40", func(p *scenePod) {
		p.f.Phase, p.f.Waiting, p.f.Finished, p.e.Waits = events.PodSucceeded, "", cronClock("09:00:39"), nil
		p.exits("main", 0, "09:00:39", func(k *events.ContainerEnd) { k.Started = cronClock("09:00:14") })
	})
	j.ends("09:00:41", status.Complete, "CompletionsReached", "")
	if got := j.told("WAITED"); !strings.HasPrefix(got, "demo-a waited for at least 4s: ContainerCreating") {
		t.Errorf("it says %q", got)
	}
}

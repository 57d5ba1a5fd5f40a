package explain_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestScenesOfCounts: an end counts once a status has it, and until then the pod's finalizer keeps it.
func TestScenesOfCounts(t *testing.T) {
	lost := "not: it lost its finalizer before the status counted it"
	for name, row := range map[string]struct {
		play func(l *scene)
		says []string
	}{
		"somebody took the finalizer off": {func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			a := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").succeeds("09:00:10")
			a.see("09:00:11", func(p *scenePod) { p.f.Tracked = false })
			j.pod("09:00:12", "demo-b", nil).runs("09:00:13", "node-1").succeeds("09:00:20").counted("09:00:21")
			j.ends("09:00:22", status.Complete, "CompletionsReached", "Reached expected number of succeeded pods")
		}, []string{lost, "as a success"}},
		"of one that failed": {func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			a := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").fails("09:00:10", 3, "")
			a.see("09:00:11", func(p *scenePod) { p.f.Tracked = false })
			j.pod("09:00:12", "demo-b", nil).runs("09:00:13", "node-1")
		}, []string{lost, "!failure 1 of the Job, which allows 6"}},
		"it went before": {func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").succeeds("09:00:10").gone("09:00:11")
			j.pod("09:00:12", "demo-b", nil).runs("09:00:13", "node-1")
		}, []string{lost, "!as a success"}},
		"it had counted before": {func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.Completions = new(int32(2)) })
			j.starts("09:00:01")
			a := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").succeeds("09:00:10")
			a.counted("09:00:11")
			a.gone("09:00:12")
		}, []string{"as a success", "!" + lost}},
		"its success is of an index that the Job no longer has": {func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.spec.CompletionMode, j.spec.Completions, j.spec.Parallelism = "Indexed", new(int32(3)), new(int32(3))
			})
			j.starts("09:00:01")
			var pods []*scenePod
			for i, name := range []string{"demo-a", "demo-b", "demo-c"} {
				pods = append(pods, j.pod("09:00:01", name, func(p *scenePod) { p.f.Index = int32(i) }))
			}
			pods[0].runs("09:00:02", "node-1").succeeds("09:00:10")
			pods[2].runs("09:00:10", "node-1").succeeds("09:00:11")
			j.status("09:00:12", func(s *events.JobStatus) { s.Succeeded, s.CompletedIndexes = 2, "0,2" })
			pods[0].see("09:00:12", func(p *scenePod) { p.f.Tracked = false })
			pods[2].see("09:00:12", func(p *scenePod) { p.f.Tracked = false })
			j.edit("09:00:13", "kubectl-edit", func(s *events.JobSpec) { s.Completions, s.Parallelism = new(int32(2)), new(int32(2)) })
		}, []string{"not: the Job has 2 completions, and index 2 is none of them", "as a success"}},
		"it ended by itself before our deletion reached it": {func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			a := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
			j.edit("09:00:09", "kubectl-edit", func(s *events.JobSpec) { s.Suspend = true })
			j.decides("09:00:09", "Suspended", "the Job is suspended", &events.DropFinalizer{Pod: a.f.UID, ThenDelete: true})
			a.fails("09:00:10", 3, "")
		}, []string{"!deleted while it ran by an API client; which one is unknown"}},
	} {
		for _, ours := range []bool{false, true} {
			mode := map[bool]string{false: ", observed", true: ", ours"}[ours]
			t.Run(name+mode, func(t *testing.T) {
				l := newScene(t, ours)
				row.play(l)
				l.says(row.says...)
				l.judged()
			})
		}
	}
}

// TestScenesOfResumption: a Job whose spec was resumed is not suspended, whatever its status says still.
func TestScenesOfResumption(t *testing.T) {
	for _, ours := range []bool{false, true} {
		l := newScene(t, ours)
		j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.Suspend = true })
		j.status("09:00:01", func(s *events.JobStatus) {
			s.Conditions = append(s.Conditions, events.JobCondition{Type: status.Suspended, Status: "True", Reason: "JobSuspended", Since: cronClock("09:00:01")})
		})
		l.says("SUSPENDED for 1s, since it was created, and never resumed")
		j.edit("09:00:30", "kubectl-edit", func(s *events.JobSpec) { s.Suspend = false })
		l.says("!SUSPENDED for 30s, since it was created, and never resumed")
		l.judged()
	}
}

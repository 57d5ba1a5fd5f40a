package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestScenesOfGroups: a Job that is held, as its Workload or its PodGroup cannot be made, is stuck, and the answer has
// the server's words; one that has them by now is not.
func TestScenesOfGroups(t *testing.T) {
	const (
		forbidden = `workloads.scheduling.k8s.io is forbidden: User "system:serviceaccount:jobledger:jobledger" cannot create resource "workloads" in API group "scheduling.k8s.io" in the namespace "batch"`
		unserved  = "the server could not find the requested resource"
		taken     = `workloads.scheduling.k8s.io "demo-abc" already exists`
	)
	workload, group := &events.CreateWorkload{MinCount: 2}, &events.CreatePodGroup{}
	refused := func(j *sceneJob, clock string, c events.Command, class events.RefusalClass, says string) events.Sequence {
		d := j.decides(clock, "GroupWanted", "a new Job, and at least 2 pods are to start together: create its Workload", c)
		j.ended(clock, d, c, events.Refused, class, says)
		return d
	}
	for name, row := range map[string]struct {
		play  func(j *sceneJob)
		asks  bool
		wants []string // parts of the verdict, and then of the answer; with ! in front: not there
		state history.State
		why   string
	}{
		"the right is missing": {func(j *sceneJob) {
			d := refused(j, "09:00:02", workload, events.RefusedForbidden, forbidden)
			j.ended("09:00:34", d, workload, events.Refused, events.RefusedForbidden, forbidden)
		}, true, []string{
			"STUCK for 38s: no pod without its PodGroup: its Workload cannot be made or read (Forbidden)",
			"no pod is made before its PodGroup is there, as it asks for a gang: the API server says, asked to create Workload: " + forbidden,
		}, history.StateWaiting, history.NoPodGroup},
		"the API is off": {func(j *sceneJob) { refused(j, "09:00:02", workload, events.RefusedForbidden, unserved) }, true, []string{
			"STUCK for 38s", unserved,
		}, history.StateWaiting, history.NoPodGroup},
		"the name is taken": {func(j *sceneJob) { refused(j, "09:00:02", workload, events.RefusedNameTaken, taken) }, true, []string{
			"STUCK for 38s: no pod without its PodGroup: the name of its Workload is taken", taken,
		}, history.StateWaiting, history.NoPodGroup},
		"one that asks for none gets plain pods": {func(j *sceneJob) { refused(j, "09:00:02", workload, events.RefusedForbidden, forbidden) }, false, []string{
			"!STUCK", "!PodGroup is there",
		}, history.StateWaiting, ""},
		"its PodGroup is made later": {func(j *sceneJob) {
			j.ended("09:00:02", j.decides("09:00:02", "GroupWanted", "create its Workload", workload), workload, events.Done, 0, "")
			d := refused(j, "09:00:03", group, events.RefusedServer, "etcdserver: request timed out")
			j.ended("09:00:05", d, group, events.Done, 0, "")
		}, true, []string{"!STUCK", "then accepted"}, history.StateWaiting, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, true)
			settings := events.DefaultSettings()
			settings.Mode, settings.GangScheduling, settings.Gangs = events.ModeAll, true, events.GangsOfRoots
			l.add("08:00:01", events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.seen.Parent = events.ParentNone
				if j.spec.Parallelism, j.spec.Completions = new(int32(2)), new(int32(2)); row.asks {
					j.spec.Scheduling, j.spec.SchedulingPolicy = "hash", events.PolicyGang
				}
			})
			row.play(j)
			l.node("09:00:40", "node-1", func(*events.NodeSeen) {})
			c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			a := c.Answer()
			all := a.Verdict.Text
			for _, s := range a.Sections {
				for _, x := range s.Sentences {
					all += "\n" + x.Text
				}
			}
			for i, want := range row.wants {
				text := all
				if i == 0 {
					text = a.Verdict.Text
				}
				if not, is := strings.CutPrefix(want, "!"); strings.Contains(text, not) == is {
					t.Errorf("want %q in:\n%s", want, text)
				}
			}
			if c.Job.State != row.state || c.Job.Reason != row.why {
				t.Errorf("`get` says %s (%s), want %s (%s)", c.Job.State, c.Job.Reason, row.state, row.why)
			}
			l.judged()
		})
	}
}

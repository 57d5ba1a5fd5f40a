package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/reconciler"
)

// controller tells that a controller began, under other settings than the one before.
func (l *scene) controller(clock string, mode events.Mode, change func(*events.Settings)) {
	l.t.Helper()
	s := events.DefaultSettings()
	s.Mode, s.CronJobs = mode, true
	if change != nil {
		change(&s)
	}
	l.add(clock, events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: s})
}

// says holds sentences against all that is told of the objects of a scene as of its end: of each Job and its pods, of
// each CronJob, and the list of trouble. One behind a "!" is told nowhere.
func (l *scene) says(want ...string) {
	l.t.Helper()
	src := l.source()
	of := listOf(l.t, src)
	var told []string
	take := func(a explain.Answer) {
		for _, s := range all(&a) {
			told = append(told, s.Text)
		}
		if a.Deleted != nil {
			told = append(told, a.Deleted.Text)
		}
	}
	jobs, _ := streams(of.records, events.StreamJob, 1)
	for _, s := range jobs {
		c, err := job.Read(l.t.Context(), src, s, history.Point{})
		if err != nil {
			l.t.Fatal(err)
		}
		if err := c.Compare(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
		take(c.Answer())
		for _, t := range c.Tries {
			pod, err := c.PodAnswer(string(t.UID))
			if err != nil {
				l.t.Fatal(err)
			}
			take(pod)
		}
	}
	crons, _ := streams(of.records, events.StreamCronJob, 1)
	for _, s := range crons {
		c, err := cron.Read(l.t.Context(), src, s, history.Point{})
		if err != nil {
			l.t.Fatal(err)
		}
		take(c.Answer())
	}
	failures, err := failures.Find(l.t.Context(), src, failures.Query{Survived: true})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, x := range failures.Items {
		told = append(told, "trouble: "+x.Sort+" "+x.Why)
	}
	for _, w := range want {
		text, not := strings.CutPrefix(w, "!")
		if is := slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, text) }); is == not {
			l.t.Errorf("%q is told: %t, in\n%s", text, is, strings.Join(told, "\n"))
		}
	}
}

// TestScenesOfHands: who runs a Job changes while it goes on, and what that leaves unknown.
func TestScenesOfHands(t *testing.T) {
	unlooked := func(s *events.Settings) { s.ObserveOthers = false }
	for name, row := range map[string]struct {
		ours bool
		play func(l *scene)
		says []string
	}{
		"observed, then ours, then nobody looks": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
			l.controller("09:01:00", events.ModeAll, nil)
			j.status("09:01:01", func(s *events.JobStatus) { s.Active = 1 })
			l.controller("09:02:00", events.ModeDelegated, unlooked)
			j.status("09:02:01", func(s *events.JobStatus) { s.Ready = 1 })
		}, []string{
			"UNKNOWN since 09:02:00: Jobledger has not looked at it since; the built-in controller runs it",
			"run by Jobledger since 09:01:00, before by the built-in controller, observed",
			"run by another controller, unseen since 09:02:00, before by Jobledger",
		}},
		"observed, not looked at, and observed again": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			l.controller("09:01:00", events.ModeDelegated, unlooked)
			j.status("09:01:01", func(s *events.JobStatus) { s.Active = 1 })
			l.controller("09:02:00", events.ModeObserve, nil)
			j.status("09:02:01", func(s *events.JobStatus) { s.Ready = 1 })
			l.node("09:03:00", "node-1", func(*events.NodeSeen) {})
		}, []string{
			"looked at since 09:01:00, but for its pods: the built-in controller runs it", "looked at since 09:02:00, not before: the built-in controller runs it",
			"!UNKNOWN since",
		}},
		"another Jobledger's, then ours": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.seen.ManagedBy = events.ManagedBy })
			j.starts("09:00:01")
			l.controller("09:01:00", events.ModeAll, nil)
			p := j.pod("09:01:01", "demo-a", nil).runs("09:01:02", "node-1")
			l.controller("09:02:00", events.ModeObserve, nil)
			p.deleted("09:02:10", 30)
			p.gone("09:02:20")
		}, []string{"before by another Jobledger", "run by another Jobledger since 09:02:00, before by Jobledger"}},
		"a third controller's, whose rules nobody knows": {false, func(l *scene) {
			l.controller("08:59:00", events.ModeDelegated, func(s *events.Settings) { s.ObserveOthers = true })
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.seen.ManagedBy = "corp.example/ctl" })
			j.starts("09:00:01")
			p := j.pod("09:00:02", "demo-a", nil).runs("09:00:03", "node-1")
			p.deleted("09:00:10", 30)
			p.gone("09:00:15")
			j.edit("09:01:00", "kubectl", func(s *events.JobSpec) { s.Suspend = true })
		}, []string{"deleted by an API client, or by the Job's own controller", "what that controller decided: it keeps no record"}},
		"it was never looked at": {false, func(l *scene) {
			l.controller("08:59:00", events.ModeDelegated, nil)
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.seen.Managed = false })
			j.status("09:00:01", func(s *events.JobStatus) { s.Active = 1 })
		}, []string{"NOT MANAGED here: the built-in controller runs it"}},
		"it ended, and nothing explains it": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
			j.ends("09:00:10", status.Failed, "OddReason", "nobody knows")
			l.tell("09:00:10", j.of, events.KindWouldDecide, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Rule: "odd", Reason: reconciler.Unexplained}}}, events.Evidence{})
		}, []string{"FAILED", "nothing that was seen of it says so"}},
		"it ended as our rules say at last": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
			j.ends("09:00:10", status.Failed, "OddReason", "nobody knows")
			l.tell("09:00:10", j.of, events.KindWouldDecide, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Rule: "odd", Reason: "BackoffLimitExceeded"}}}, events.Evidence{})
		}, []string{"FAILED", "!nothing that was seen of it says so"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, row.ours)
			row.play(l)
			l.judged()
			l.says(row.says...)
		})
	}
}

// TestScenesOfLikeRuns: a run that failed, and one before it that succeeded with the same spec.
func TestScenesOfLikeRuns(t *testing.T) {
	const template = `{"spec":{"containers":[{"name":"main","image":"app:1"}]}}`
	run := func(l *scene, clock, name, template, key, hash string, admitted []string, failed bool) {
		j := l.job(clock+":00", name, template, func(j *sceneJob) {
			j.spec.BackoffLimit, j.spec.Key = new(int32(0)), key
			j.spec.Template = hash
		})
		j.starts(clock + ":01")
		p := j.pod(clock+":01", name+"-x", func(p *scenePod) { p.e.Admitted = admitted }).runs(clock+":03", "node-1")
		if failed {
			p.fails(clock+":13", 4, "").counted(clock + ":14")
			j.ends(clock+":14", status.Failed, "BackoffLimitExceeded", "")
			return
		}
		p.succeeds(clock + ":13").counted(clock + ":14")
		j.ends(clock+":14", status.Complete, "CompletionsReached", "")
	}
	for name, row := range map[string]struct {
		key, then, now         string
		admitted, admittedThen []string
		says                   string
	}{
		"nothing differs":               {"k", "t1", "t1", nil, nil, "): nothing: spec and pod template are the same; it took 13s then"},
		"a value that is hidden":        {"k", "t1", "t2", nil, nil, "a value that is not kept in the log: of env, command, arguments or annotations"},
		"values that nobody compares":   {"", "", "", nil, nil, "nothing that is recorded; values of env, commands and arguments cannot be compared"},
		"its admission, unknown before": {"k", "t1", "t1", []string{"+containers[istio]"}, nil, "admission changes more of its pods: containers[istio] added (nothing is recorded of then)"},
		"its admission":                 {"k", "t1", "t1", []string{"x", "+y"}, []string{"x", "-z"}, "admission changes more of its pods: y added · admission changes less of its pods: no longer z removed"},
		"its admission is as it was":    {"k", "t1", "t1", []string{"x"}, []string{"x"}, "nothing: spec and pod template are the same"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, false)
			run(l, "09:00", "load-1", template, row.key, row.then, row.admittedThen, false)
			run(l, "10:00", "load-2", template, row.key, row.now, row.admitted, true)
			keepSum(t, l.source())
			l.says(row.says)
		})
	}
	t.Run("some succeeded before, some failed since", func(t *testing.T) {
		l := newScene(t, false)
		for i, failed := range []bool{true, false, false, true, true} {
			run(l, fmt.Sprintf("%02d:00", 9+i), fmt.Sprintf("load-%d", i), template, "k", "t1", nil, failed)
		}
		l.says("of 4 earlier runs with name load-* 2 succeeded", "since the last success (load-2, 2 Mar 11:00:14")
	})
}

// TestScenesOfOddTimes: a Job of which little else is odd than when it was seen, and how it stands.
func TestScenesOfOddTimes(t *testing.T) {
	for name, row := range map[string]struct {
		ours bool
		play func(l *scene)
		says []string
	}{
		"two of its pods do not stop": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.Parallelism, j.spec.Completions = new(int32(2)), new(int32(2)) })
			j.starts("09:00:01")
			b, a := j.pod("09:00:01", "demo-b", nil), j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
			a.deleted("09:00:11", 30)
			b.deleted("09:00:11", 30)
			l.node("09:05:00", "node-1", func(*events.NodeSeen) {})
		}, []string{"demo-b is being deleted since 09:00:11, and is there still"}},
		"its verdict waits for pods that do not stop": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			a := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
			j.status("09:00:10", func(s *events.JobStatus) {
				s.Conditions = append(s.Conditions, events.JobCondition{Type: status.FailureTarget, Status: "True", Reason: "BackoffLimitExceeded", Since: cronClock("09:00:10")})
			})
			a.deleted("09:00:11", 30)
			l.node("09:05:00", "node-1", func(*events.NodeSeen) {})
		}, []string{"FAILING: ", "demo-a on node-1 does not stop (being deleted since 09:00:11)", "trouble: failed "}},
		"our clock went back": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			l.add("09:00:05", events.Controller, events.KindClockStepped, &events.ClockStepped{Step: -2 * time.Second})
			l.add("09:00:06", events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Second})
			l.add("09:00:07", events.Controller, events.KindClockStepped, &events.ClockStepped{Step: 999 * time.Millisecond})
			j.pod("09:00:08", "demo-a", nil).runs("09:00:09", "node-1").succeeds("09:00:20").counted("09:00:21")
			j.ends("09:00:22", status.Complete, "CompletionsReached", "")
			l.add("09:00:23", events.Controller, events.KindClockStepped, &events.ClockStepped{Step: time.Minute})
		}, []string{
			"at 09:00:05 Jobledger's clock went 2s back", "at 09:00:06 Jobledger's clock went 1s forward", "!at 09:00:07 Jobledger's clock", "!clock went 1m forward",
		}},
		"its parallelism was 0 for a while": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.edit("09:00:10", "kubectl", func(s *events.JobSpec) { s.Parallelism = new(int32) })
			l.node("09:00:20", "node-1", func(*events.NodeSeen) {})
		}, []string{"WAITING for 20s: no pod is wanted, as its parallelism is 0 since 09:00:10 (field manager kubectl)", "no pod is wanted, as its parallelism is 0 since 09:00:10"}},
		"it was suspended by an edit, and deleted": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.edit("09:00:10", "kubectl", func(s *events.JobSpec) { s.Suspend = true })
			j.gone("09:00:30")
		}, []string{"no pod was wanted: it was suspended at 09:00:10 (field manager kubectl) and not resumed", "by an API client or with its namespace"}},
		"its parallelism was lowered to 0, and it is deleted": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.edit("09:00:10", "kubectl", func(s *events.JobSpec) { s.Parallelism = new(int32) })
			j.gone("09:00:30")
		}, []string{"no pod was wanted: its parallelism is 0 since 09:00:10 (field manager kubectl)"}},
		"the API server's refusals have no words": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			create := &events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: "t"}
			d := j.decides("09:00:01", "MorePodsWanted", "create 1", create)
			j.ended("09:00:02", d, create, events.Refused, events.RefusedQuota, "")
			j.ended("09:00:12", d, create, events.Refused, events.RefusedForbidden, "no right")
			l.node("09:00:20", "node-1", func(*events.NodeSeen) {})
		}, []string{"the log has no words of the server; then refused (", "no right; still refused"}},
		"it is deleted before it ended, by its own decision": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			end := &events.WriteStatus{Change: events.StatusChange{Conditions: []events.JobCondition{{Type: status.FailureTarget, Status: "True", Reason: "BackoffLimitExceeded"}}}}
			d := j.decides("09:00:05", "BackoffLimitExceeded", "1 failure", end)
			j.status("09:00:05", func(s *events.JobStatus) { s.Active = 1 })
			j.ended("09:00:06", d, end, events.Refused, events.RefusedConflict, "the object has been modified")
			j.status("09:00:07", func(s *events.JobStatus) { s.Active = 0 })
			j.gone("09:00:30")
		}, nil},
		"its CronJob": {true, func(l *scene) {
			for i, o := range []*events.Origin{{Kind: "CronJob", Name: "report", UID: "uid-report"}, {Kind: "CronJob", Name: "unknown", UID: "uid-unknown"}, {Kind: "Workflow", Name: "wf", UID: "uid-wf"}} {
				if i == 0 {
					c := l.cron("08:59:30", true, nil)
					c.runs("09:00:00", "", "a", func(f *events.RunSeen) { f.Manual = true })
					c.runs("09:00:00", "", "b", nil)
					c.runs("09:00:00", "09:00:00", "c", nil)
				}
				for _, name := range []string{"a", "b", "c"} {
					l.job("09:00:01", fmt.Sprintf("report-%s", name), "", func(j *sceneJob) {
						j.e.Origin, j.of = o, events.JobStream(types.UID(fmt.Sprintf("uid-report-%s", name)))
						if i > 0 {
							j.of, j.e.Name = events.JobStream(types.UID(fmt.Sprintf("uid-%d-%s", i, name))), fmt.Sprintf("other-%d-%s", i, name)
						}
					})
				}
			}
		}, []string{
			"made by hand, of cronjob/report", "made by cronjob/report: for which due time is unknown", "due 2 Mar 09:00 UTC by cronjob/report",
			"made by cronjob/unknown: for which due time is unknown, as the log does not tell of that CronJob",
		}},
		"it is older than the log": {false, func(l *scene) {
			all := []events.Resource{events.Jobs, events.Pods, events.CronJobs}
			l.add("09:00:00", events.Controller, events.KindListingStarted, &events.ListingStarted{Reason: events.ListingStart, Resources: all, LastVersions: []uint64{0, 0, 0}})
			j := l.job("09:00:01", "demo", "", func(j *sceneJob) {
				j.seen.Created, j.seen.Generation, j.stat.StartTime, j.stat.Failed = cronClock("08:00:00"), 3, cronClock("08:00:01"), 1
			})
			l.add("09:00:02", events.Controller, events.KindSynced, &events.Synced{Resources: all, Versions: []uint64{2000, 2000, 2000}})
			j.pod("09:00:03", "demo-a", nil).runs("09:00:04", "node-1").fails("09:00:05", 3, "boom").counted("09:00:06")
		}, []string{"this log begins there, and the Job is older. What had happened was found then", "!when it was first seen"}},
		"its pods are changed alike by admission, and the last otherwise": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.Parallelism, j.spec.Completions = new(int32(4)), new(int32(4)) })
			j.starts("09:00:01")
			for i, admitted := range [][]string{{"+containers[istio]"}, nil, nil, {"priority"}} {
				j.pod("09:00:02", fmt.Sprintf("demo-%d", i), func(p *scenePod) { p.e.Admitted = admitted })
			}
		}, []string{"demo-0 and 2 other pods differ from the Job's pod template: containers[istio] added", "demo-3 differs from the Job's pod template: priority changed"}},
		"retired, long ago": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").fails("09:00:05", 3, "boom").counted("09:00:06")
			j.ends("09:00:07", status.Failed, "BackoffLimitExceeded", "")
			l.tell("09:00:08", j.of, events.KindJobRetired, &events.JobRetired{}, events.Evidence{Namespace: "batch", Name: "demo"})
			for i := range 12 {
				l.node(fmt.Sprintf("09:01:%02d", i), "node-1", func(f *events.NodeSeen) { f.Cordoned = i%2 == 0 })
			}
			j.gone("09:02:00")
		}, []string{"FAILED"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, row.ours)
			row.play(l)
			keepSum(t, l.source())
			l.says(row.says...)
		})
	}
}

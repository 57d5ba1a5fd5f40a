package explain_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestScenesOfBounds: what is told just before a bound, at it and behind it.
func TestScenesOfBounds(t *testing.T) {
	quota := `pods "demo-a" is forbidden: exceeded quota: compute`
	create := &events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: "t"}
	for name, row := range map[string]struct {
		ours bool
		play func(l *scene)
	}{
		"pods that end and go while one waits for its deadline": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.spec.ActiveDeadlineSeconds, j.spec.Parallelism, j.spec.Completions = new(int64(60)), new(int32(3)), new(int32(9))
			})
			j.starts("09:00:01")
			a, b := j.pod("09:00:01", "demo-a", nil), j.pod("09:00:01", "demo-b", nil)
			a.runs("09:00:03", "node-1").fails("09:00:09", 1, "").counted("09:00:10")
			b.see("09:00:11", waits("ImagePullBackOff", "main", imageMissing))
			c := j.pod("09:00:20", "demo-c", nil)
			c.see("09:00:21", waits("Unschedulable", "", "0/3 nodes are available"))
			d := j.pod("09:00:21", "demo-d", nil)
			d.see("09:00:22", waits("ImagePullBackOff", "main", "another image"))
			e := j.pod("09:00:22", "demo-e", nil)
			e.see("09:00:23", waits("ImagePullBackOff", "main", imageMissing))
			e.deleted("09:00:24", 0)
			e.gone("09:00:25")
			f := j.pod("09:00:30", "demo-f", nil)
			f.see("09:00:51", waits("PodInitializing", "main", ""))
			j.ends("09:01:01", status.Failed, "DeadlineExceeded", "Job was active longer than specified deadline")
			g := j.pod("09:01:01", "demo-g", nil)
			g.see("09:01:02", waits("ImagePullBackOff", "main", imageMissing))
		}},
		"refusals before the deadline": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.ActiveDeadlineSeconds, j.spec.Parallelism = new(int64(60)), new(int32(2)) })
			j.starts("09:00:01")
			d := j.decides("09:00:01", "MorePodsWanted", "create 2", create, &events.CreatePod{Ordinal: 2, Index: events.NoIndex, Template: "t"})
			j.ended("09:00:02", d, create, events.Refused, events.RefusedQuota, quota)
			write := &events.WriteStatus{Change: events.StatusChange{Active: new(int32(0))}}
			w := j.decides("09:00:03", "StatusChanged", "0 active", write)
			j.ended("09:00:03", w, write, events.Refused, events.RefusedConflict, "the object has been modified")
			j.ended("09:00:20", d, create, events.Done, 0, "")
			p := j.pod("09:00:20", "demo-a", nil).runs("09:00:22", "node-1")
			p.see("09:00:31", func(p *scenePod) {
				p.exits("setup", 0, "09:00:21", func(k *events.ContainerEnd) { k.Kind = events.InitContainer })
				p.exits("main", 0, "09:00:30", nil)
				p.e.StillRun = []string{"proxy"}
			})
			end := &events.WriteStatus{Change: events.StatusChange{Conditions: []events.JobCondition{{Type: status.FailureTarget, Status: "True", Reason: "DeadlineExceeded"}}}}
			j.ended("09:01:01", j.decides("09:01:01", "DeadlineExceeded", "1m passed", end), end, events.Done, 0, "")
			j.ends("09:01:02", status.Failed, "DeadlineExceeded", "")
			drop := &events.DeletePod{Pod: p.f.UID}
			j.ended("09:01:03", j.decides("09:01:03", "JobFailing", "the Job fails", drop), drop, events.Done, 0, "")
			p.deleted("09:01:03", 30)
			p.see("09:01:05", func(p *scenePod) {
				p.f.Phase, p.f.Finished, p.e.StillRun = events.PodFailed, cronClock("09:01:04"), nil
				p.exits("proxy", 143, "09:01:04", nil)
			})
		}},
		"what ended first": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.Parallelism, j.spec.Completions = new(int32(4)), new(int32(9)) })
			j.starts("09:00:01")
			a, b, c, d := j.pod("09:00:01", "demo-a", nil), j.pod("09:00:01", "demo-b", nil), j.pod("09:00:01", "demo-c", nil), j.pod("09:00:01", "demo-d", nil)
			for _, p := range []*scenePod{a, b, c, d} {
				p.runs("09:00:03", "node-1")
			}
			end := func(p *scenePod, asked, finished, seen string, change func(p *scenePod)) {
				p.see(seen, func(p *scenePod) {
					p.f.Phase, p.f.Finished, p.e.Running = events.PodFailed, cronClock(finished), 0
					p.exits("main", 9, finished, nil)
					p.f.Deleted, p.f.DeletionGracePeriodSeconds = cronClock(asked).Add(30*time.Second), new(int64(30))
					if change != nil {
						change(p)
					}
				})
			}
			end(a, "09:00:20", "09:00:10", "09:00:21", nil)
			end(b, "09:00:20", "09:00:19", "09:00:22", nil)
			end(c, "09:00:20", "09:00:25", "09:00:26", func(p *scenePod) { p.disrupted("EvictionByEvictionAPI", "Eviction API: evicting", "09:00:20") })
			end(d, "09:00:27", "09:00:10", "09:00:28", func(p *scenePod) { p.disrupted("PreemptionByScheduler", "preempting", "09:00:26") })
		}},
		"a pod of an index is doubled": {true, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.spec.CompletionMode, j.spec.Completions, j.spec.Parallelism = "Indexed", new(int32(3)), new(int32(3))
			})
			j.starts("09:00:01")
			at := func(i int32) func(*scenePod) { return func(p *scenePod) { p.f.Index = i } }
			done := j.pod("09:00:01", "demo-0-done", at(0)).runs("09:00:01", "node-1")
			a, b := j.pod("09:00:01", "demo-1-a", at(1)).runs("09:00:02", "node-1"), j.pod("09:00:02", "demo-1-b", at(1)).runs("09:00:03", "node-1")
			done.succeeds("09:00:04").counted("09:00:05")
			again := j.pod("09:00:05", "demo-0-again", at(0)).runs("09:00:06", "node-1")
			for i, p := range []*scenePod{b, again} {
				del, clock := &events.DeletePod{Pod: p.f.UID}, fmt.Sprintf("09:00:0%d", 7+i)
				j.ended(clock, j.decides(clock, "DuplicateIndex", "one pod too many", del), del, events.Done, 0, "")
				p.deleted(clock, 30)
			}
			j.edit("09:00:10", "kubectl", func(s *events.JobSpec) { s.Completions, s.Parallelism = new(int32(1)), new(int32(1)) })
			del := &events.DeletePod{Pod: a.f.UID}
			j.ended("09:00:11", j.decides("09:00:11", "DuplicateIndex", "its index is beyond", del), del, events.Done, 0, "")
			a.deleted("09:00:12", 30)
		}},
		"almost too late, and many indexes failed": {false, func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.spec.CompletionMode, j.spec.Completions, j.spec.Parallelism = "Indexed", new(int32(60)), new(int32(60))
				j.spec.BackoffLimitPerIndex, j.spec.BackoffLimit, j.spec.ActiveDeadlineSeconds = new(int32(0)), nil, new(int64(100))
			})
			j.starts("09:00:01")
			for i := range int32(3) {
				p := j.pod("09:00:02", fmt.Sprintf("demo-%d", i), func(p *scenePod) { p.f.Index = i })
				p.runs("09:00:02", "node-1")
			}
			j.status("09:01:18", func(s *events.JobStatus) {
				s.CompletedIndexes, s.FailedIndexes = "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39", new("0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40-59")
				s.Succeeded, s.Failed = 20, 40
			})
			j.ends("09:01:19", status.Failed, "FailedIndexes", "Job has failed indexes")
		}},
		"two Jobs whose pods are refused": {true, func(l *scene) {
			first := l.job("09:00:00", "first", "", nil)
			second := l.job("09:00:01", "second", "", nil)
			third := l.job("09:00:01", "third", "", nil)
			for i, j := range []*sceneJob{first, second, third} {
				clock := fmt.Sprintf("09:00:0%d", 2+i)
				j.starts(clock)
				d := j.decides(clock, "MorePodsWanted", "create 1", create)
				j.ended(clock, d, create, events.Refused, events.RefusedQuota, quota)
				if j == second {
					j.ended(clock, d, create, events.Done, 0, "")
				}
			}
			l.node("09:00:40", "node-1", func(*events.NodeSeen) {})
		}},
		"its owner": {false, func(l *scene) {
			c := l.cron("08:59:00", false, func(f *events.CronJobSeen) { f.KeepSucceeded = new(int32(1)) })
			for i, name := range []string{"report-a", "report-b"} {
				clock := fmt.Sprintf("09:0%d", i)
				short := name[len("report-"):]
				c.runs(clock+":00", clock+":00", short, nil)
				c.ledger(clock+":00", clock+":00", "", events.NotHeld, c.started(clock+":00", short, 0))
				j := l.job(clock+":00", name, "", func(j *sceneJob) {
					j.e.Origin = &events.Origin{Kind: "CronJob", Name: "report", UID: "uid-report"}
					j.of = events.JobStream(types.UID("uid-" + name))
				})
				j.starts(clock + ":00")
				j.pod(clock+":01", name+"-x", nil).runs(clock+":02", "node-1").succeeds(clock + ":05").counted(clock + ":05")
				j.ends(clock+":06", status.Complete, "CompletionsReached", "")
				c.ends(clock+":06", clock+":00", clock+":00", short, events.ResultComplete)
				if i == 1 {
					l.tell("09:01:08", events.JobStream("uid-report-a"), events.KindJobDeleted, &events.JobGone{Version: l.next()}, events.Evidence{Namespace: "batch", Name: "report-a"})
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, row.ours)
			row.play(l)
			l.judged()
		})
	}
}

// TestFailuresAreCut: a list of trouble of which only some is wanted.
func TestFailuresAreCut(t *testing.T) {
	src := observed(t)
	keep(t, src, func(l *teller) {
		for _, q := range []failures.Query{
			{Limit: 1}, {Limit: 2, Survived: true}, {Limit: 100}, {Namespace: "oom"}, {Since: src.records[len(src.records)/2].Time, Survived: true},
			{Until: src.records[len(src.records)/3].Time, Survived: true},
		} {
			f, err := failures.Find(t.Context(), src, q)
			if err != nil {
				t.Fatal(err)
			}
			l.about("%+v: %d, more: %t", q, len(f.Items), f.More)
			for i := range f.Items {
				x := &f.Items[i]
				l.about("%s %s/%s %s", x.Sort, x.Namespace, x.Name, x.Why)
			}
		}
	})
}

// TestLivesOfAName: of several Jobs that bore a name the one answers that goes on, else the one that failed, else the
// newest.
func TestLivesOfAName(t *testing.T) {
	src := observed(t)
	var cases []*job.Case
	for _, name := range []string{"oom/oom", "quota/invoice", "unschedulable/gpu-train", "foreign-finalizer/restore"} {
		c, err := job.Read(t.Context(), src, src.job(t, name), history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	keep(t, src, func(l *teller) {
		for from := range cases {
			for older := range 2 {
				c := job.OfLives(cases[from:], older)
				l.about("of %d and %d older: %s", len(cases)-from, older, c.Job.Name)
				l.value(c.Lives)
			}
		}
	})
}

package explain_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

const imageMissing = `Back-off pulling image "registry.example/app:2": not found`

// TestScenesOfDeadlines: what held a Job up when its deadline passed.
func TestScenesOfDeadlines(t *testing.T) {
	short := func(j *sceneJob) { j.spec.ActiveDeadlineSeconds = new(int64(60)) }
	passes := func(j *sceneJob) {
		j.ends("09:01:01", status.Failed, "DeadlineExceeded", "Job was active longer than specified deadline")
	}
	for name, play := range map[string]func(l *scene){
		"its image is not there": func(l *scene) {
			j := l.job("09:00:00", "demo", "", short)
			j.starts("09:00:01")
			p := j.pod("09:00:01", "demo-a", nil)
			p.see("09:00:02", waits("ContainerCreating", "main", ""))
			p.see("09:00:05", waits("ImagePullBackOff", "main", imageMissing))
			passes(j)
			p.deleted("09:01:02", 30)
			p.gone("09:01:03")
		},
		"the images of both are not there": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { short(j); j.spec.Parallelism = new(int32(3)) })
			j.starts("09:00:01")
			a, b, c := j.pod("09:00:01", "demo-a", nil), j.pod("09:00:01", "demo-b", nil), j.pod("09:00:01", "demo-c", nil)
			a.see("09:00:04", waits("ErrImagePull", "main", imageMissing))
			a.see("09:00:05", waits("ImagePullBackOff", "main", imageMissing))
			b.see("09:00:06", waits("ImagePullBackOff", "main", imageMissing))
			c.see("09:00:58", waits("ContainerCreating", "main", ""))
			passes(j)
		},
		"one of its pods ran": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { short(j); j.spec.Parallelism = new(int32(2)) })
			j.starts("09:00:01")
			a, b := j.pod("09:00:01", "demo-a", nil), j.pod("09:00:01", "demo-b", nil)
			a.see("09:00:06", waits("ImagePullBackOff", "main", imageMissing))
			b.runs("09:00:07", "node-1")
			passes(j)
		},
		"its pod crashed again and again": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { short(j); j.spec.RestartPolicy = "OnFailure" })
			j.starts("09:00:01")
			p := j.pod("09:00:01", "demo-a", nil).runs("09:00:03", "node-1")
			p.see("09:00:05", func(p *scenePod) {
				p.f.Restarts, p.f.MaxRestarts, p.e.Running = 1, 1, 0
				p.exits("main", 2, "09:00:04", func(k *events.ContainerEnd) { k.Again, k.Restarts, k.Message = true, 1, "no such table: orders" })
			})
			p.see("09:00:20", func(p *scenePod) {
				waits("CrashLoopBackOff", "main", "back-off 20s restarting failed container")(p)
				p.f.Restarts, p.f.MaxRestarts, p.e.Containers[0].Restarts = 3, 3, 3
			})
			passes(j)
		},
		"no pod came": func(l *scene) {
			j := l.job("09:00:00", "demo", "", short)
			j.starts("09:00:01")
			passes(j)
		},
		"its sidecar ran on": func(l *scene) {
			j := l.job("09:00:00", "demo", "", short)
			j.starts("09:00:01")
			p := j.pod("09:00:01", "demo-a", nil).runs("09:00:03", "node-1")
			p.see("09:00:31", func(p *scenePod) {
				p.exits("main", 0, "09:00:30", nil)
				p.e.StillRun = []string{"proxy", "logs"}
			})
			passes(j)
			p.see("09:01:04", func(p *scenePod) {
				p.f.Phase, p.f.Finished, p.e.StillRun = events.PodFailed, cronClock("09:01:03"), nil
				p.exits("proxy", 143, "09:01:02", nil)
				p.exits("logs", 0, "09:01:03", nil)
				p.f.Deleted, p.f.DeletionGracePeriodSeconds = cronClock("09:01:31"), new(int64(30))
			})
		},
		"it had done half of its work": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { short(j); j.spec.Completions = new(int32(2)) })
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:03", "node-1").succeeds("09:00:30").counted("09:00:31")
			p := j.pod("09:00:31", "demo-b", nil).runs("09:00:33", "node-2")
			passes(j)
			p.deleted("09:01:01", 30)
			p.fails("09:01:05", 143, "")
			p.gone("09:01:06")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, false)
			play(l)
			l.judged()
		})
	}
}

// TestScenesOfRefusals: what the API server refused us, and how that ended.
func TestScenesOfRefusals(t *testing.T) {
	create := &events.CreatePod{Ordinal: 1, Index: events.NoIndex, Template: "t"}
	begin := func(l *scene, change func(*sceneJob)) (*sceneJob, events.Sequence) {
		j := l.job("09:00:00", "demo", "", change)
		j.starts("09:00:01")
		return j, j.decides("09:00:01", "MorePodsWanted", "1 wanted, 0 active, 0 being created: create 1", create)
	}
	const quota = `pods "demo-a" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=5, limited: pods=5`
	for name, play := range map[string]func(l *scene){
		"a quota, for a minute": func(l *scene) {
			j, d := begin(l, nil)
			j.ended("09:00:02", d, create, events.Refused, events.RefusedQuota, quota)
			j.ended("09:00:32", d, create, events.Refused, events.RefusedQuota, quota)
			j.ended("09:01:02", d, create, events.Done, 0, "")
			p := j.pod("09:01:02", "demo-a", nil).runs("09:01:05", "node-1")
			p.succeeds("09:01:30")
			j.stat.Succeeded = 1
			j.ends("09:01:31", status.Complete, "CompletionsReached", "")
		},
		"a webhook, until the deadline": func(l *scene) {
			j, d := begin(l, func(j *sceneJob) { j.spec.ActiveDeadlineSeconds = new(int64(60)) })
			j.ended("09:00:02", d, create, events.Refused, events.RefusedForbidden, `admission webhook "guard.example" denied the request: no owner`)
			j.ended("09:00:12", d, create, events.Refused, events.RefusedForbidden, `admission webhook "guard.example" denied the request: no owner`)
			end := &events.WriteStatus{Change: events.StatusChange{Conditions: []events.JobCondition{{
				Type: status.FailureTarget, Status: "True", Reason: "DeadlineExceeded", Message: "Job was active longer than specified deadline",
			}}}}
			j.ended("09:01:02", j.decides("09:01:01", "DeadlineExceeded", "1m passed", end), end, events.Done, 0, "")
			j.ends("09:01:02", status.Failed, "DeadlineExceeded", "Job was active longer than specified deadline")
		},
		"the server failed for a moment": func(l *scene) {
			j, d := begin(l, nil)
			j.ended("09:00:02", d, create, events.Refused, events.RefusedServer, "etcdserver: request timed out")
			j.ended("09:00:04", d, create, events.Done, 0, "")
			j.pod("09:00:04", "demo-a", nil).runs("09:00:05", "node-1")
		},
		"one after the other": func(l *scene) {
			j, d := begin(l, nil)
			j.ended("09:00:02", d, create, events.Refused, events.RefusedTooManyRequests, "too many requests")
			j.ended("09:00:04", d, create, events.Refused, events.RefusedQuota, quota)
			j.ended("09:00:08", d, create, events.Refused, events.RefusedForbidden, "pods is forbidden: no right")
			l.node("09:06:00", "node-1", func(*events.NodeSeen) {})
		},
		"its namespace goes": func(l *scene) {
			l.tell("08:59:30", events.Controller, events.KindClusterWatched, &events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingOff}, events.Evidence{})
			j, d := begin(l, nil)
			j.ended("09:00:02", d, create, events.Refused, events.RefusedNamespaceTerminating, "namespace batch is being terminated")
			j.gone("09:00:10")
		},
		"the status, and a finalizer": func(l *scene) {
			j, d := begin(l, nil)
			j.ended("09:00:02", d, create, events.Done, 0, "")
			p := j.pod("09:00:02", "demo-a", nil).runs("09:00:05", "node-1")
			p.fails("09:00:09", 1, "boom")
			drop := &events.DropFinalizer{Pod: p.f.UID}
			d = j.decides("09:00:10", "PodEnded", "counted", drop)
			j.ended("09:00:10", d, drop, events.Refused, events.RefusedForbidden, "pods is forbidden: cannot patch")
			write := &events.WriteStatus{Change: events.StatusChange{Failed: new(int32(1))}}
			d = j.decides("09:00:11", "StatusChanged", "1 failed", write)
			j.ended("09:00:11", d, write, events.Refused, events.RefusedForbidden, "jobs/status is forbidden: cannot update")
			l.node("09:06:00", "node-1", func(*events.NodeSeen) {})
		},
		"its template is not valid": func(l *scene) {
			j, d := begin(l, nil)
			j.ended("09:00:02", d, create, events.Refused, events.RefusedInvalid, "Pod \"demo-a\" is invalid: spec.containers[0].image: Required value")
			l.node("09:00:40", "node-1", func(*events.NodeSeen) {})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, true)
			play(l)
			l.judged()
		})
	}
}

// TestScenesOfNearMisses: Jobs that succeeded, and what they survived.
func TestScenesOfNearMisses(t *testing.T) {
	done := func(j *sceneJob, clock string, failed int32) {
		j.status(clock, func(s *events.JobStatus) { s.Succeeded, s.Failed = max(s.Succeeded, 1), failed })
		j.ends(clock, status.Complete, "CompletionsReached", "")
	}
	ignoring := func(j *sceneJob) {
		j.spec.PodFailurePolicy = `{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]}`
	}
	for name, play := range map[string]func(l *scene){
		"an eviction that did not count": func(l *scene) {
			j := l.job("09:00:00", "demo", "", ignoring)
			j.starts("09:00:01")
			a := j.pod("09:00:01", "demo-a", nil).runs("09:00:03", "node-1")
			a.see("09:00:10", func(p *scenePod) {
				p.disrupted("EvictionByEvictionAPI", "Eviction API: evicting", "09:00:10")
				p.f.Deleted, p.f.DeletionGracePeriodSeconds = cronClock("09:00:40"), new(int64(30))
			})
			a.fails("09:00:12", 143, "")
			a.gone("09:00:13")
			j.pod("09:00:14", "demo-b", nil).runs("09:00:15", "node-2").succeeds("09:00:30")
			done(j, "09:00:31", 0)
		},
		"restarts in two pods": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.RestartPolicy, j.spec.Parallelism = "OnFailure", new(int32(3)) })
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-c", nil).runs("09:00:02", "node-1")
			for i, name := range []string{"demo-a", "demo-b"} {
				at := []string{"09:00", "09:01"}[i]
				p := j.pod(at+":03", name, nil).runs(at+":03", "node-1")
				p.see(at+":06", func(p *scenePod) {
					p.f.Restarts, p.f.MaxRestarts = uint32(i+1), uint32(i+1)
					p.exits("main", int32(i+3), at+":05", func(k *events.ContainerEnd) { k.Again, k.Restarts = true, uint32(i+1) })
				})
				p.see(at+":30", func(p *scenePod) {
					p.f.Phase, p.f.Finished, p.f.Exits, p.e.Containers = events.PodSucceeded, cronClock(at+":29"), nil, nil
					p.exits("main", 0, at+":29", func(k *events.ContainerEnd) { k.Restarts = uint32(i + 1) })
				})
			}
			done(j, "09:01:31", 0)
		},
		"failures": func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			for i, name := range []string{"demo-a", "demo-b"} {
				at := []string{"09:00", "09:01"}[i]
				p := j.pod(at+":01", name, nil).runs(at+":03", "node-1")
				p.fails(at+":05", 3, "connection refused: db:5432").counted(at + ":06")
				p.gone(at + ":07")
			}
			j.pod("09:01:26", "demo-c", nil).runs("09:01:28", "node-1").succeeds("09:01:30")
			done(j, "09:01:31", 2)
		},
		"a node that was lost": func(l *scene) {
			j := l.job("09:00:00", "demo", "", nil)
			j.starts("09:00:01")
			l.node("09:00:01", "node-1", func(*events.NodeSeen) {})
			a := j.pod("09:00:01", "demo-a", nil).runs("09:00:03", "node-1")
			l.node("09:01:00", "node-1", func(f *events.NodeSeen) {
				f.Ready, f.Since, f.Taints = events.NodeUnheard, cronClock("09:00:58"), []string{"ops/drain"}
			})
			a.see("09:06:00", func(p *scenePod) {
				p.disrupted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", "09:06:00")
				p.f.Deleted, p.f.DeletionGracePeriodSeconds = cronClock("09:06:30"), new(int64(30))
			})
			b := j.pod("09:06:10", "demo-b", nil).runs("09:06:12", "node-2")
			l.add("09:07:00", events.Controller, events.KindNodeGone, &events.NodeGone{Name: "node-1", UID: "uid-node-1"})
			a.see("09:07:05", func(p *scenePod) { p.f.Phase, p.f.Finished = events.PodFailed, cronClock("09:07:05") })
			a.gone("09:07:06")
			b.succeeds("09:08:00")
			done(j, "09:08:01", 1)
		},
		"a container that nobody saw end": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.RestartPolicy = "OnFailure" })
			j.starts("09:00:01")
			p := j.pod("09:00:01", "demo-a", nil).runs("09:00:03", "node-1")
			p.see("09:00:06", func(p *scenePod) {
				p.f.Restarts, p.f.MaxRestarts = 1, 1
				p.exits("main", 137, "09:00:05", func(k *events.ContainerEnd) { k.Again, k.Restarts, k.Reason = true, 1, "ContainerStatusUnknown" })
			})
			p.see("09:00:30", func(p *scenePod) {
				p.f.Phase, p.f.Finished, p.f.Exits, p.e.Containers = events.PodSucceeded, cronClock("09:00:29"), nil, nil
				p.exits("main", 0, "09:00:29", func(k *events.ContainerEnd) { k.Restarts = 1 })
			})
			done(j, "09:00:31", 0)
		},
		"nothing": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.ActiveDeadlineSeconds = new(int64(40)) })
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:03", "node-1").succeeds("09:00:36")
			done(j, "09:00:37", 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, false)
			play(l)
			l.judged()
		})
	}
}

// TestScenesOfEarlierRuns: in what a Job that failed differs from the run before that succeeded.
func TestScenesOfEarlierRuns(t *testing.T) {
	const before = `{"spec":{"containers":[{"name":"main","image":"app:1","args":["a","b"],"env":[{"name":"DB","value":"(redacted)"}]}],"nodeSelector":{"zone":"a"}}}`
	const manyFields = `{"spec":{"containers":[{"name":"main","image":"app:2","args":["a"],"env":[{"name":"HOST","value":"(redacted)"}],"resources":{"limits":` +
		`{"memory":"100Mi"}}},{"name":"proxy","image":"proxy:7"}],"initContainers":[{"name":"wait","image":"wait:1"}],"priority":7,` +
		`"serviceAccount":"an account with a name that is longer than anybody would care to read in full"}}`
	succeeds := func(l *scene, name, template string, change func(*sceneJob)) {
		j := l.job("09:00:00", name, template, change)
		j.starts("09:00:01")
		j.pod("09:00:01", name+"-x", func(p *scenePod) { p.e.Admitted = []string{"+containers[istio]"} }).runs("09:00:03", "node-1").succeeds("09:00:43").counted("09:00:44")
		j.ends("09:00:44", status.Complete, "CompletionsReached", "")
	}
	fails := func(l *scene, clock, name, template string, admitted []string, change func(*sceneJob)) {
		j := l.job(clock+":00", name, template, func(j *sceneJob) {
			j.spec.BackoffLimit = new(int32(0))
			if change != nil {
				change(j)
			}
		})
		j.starts(clock + ":01")
		j.pod(clock+":01", name+"-x", func(p *scenePod) { p.e.Admitted = admitted }).runs(clock+":03", "node-1").fails(clock+":13", 4, "no such host").counted(clock + ":14")
		j.ends(clock+":14", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	}
	key := func(template string) func(*sceneJob) {
		return func(j *sceneJob) { j.spec.Key, j.spec.Template = "k", template }
	}
	of := func(kind, name, stem string) func(*sceneJob) {
		return func(j *sceneJob) {
			j.e.Origin = &events.Origin{Kind: kind, Name: name, UID: types.UID("uid-of-" + name), GenerateName: stem}
		}
	}
	for name, play := range map[string]func(l *scene){
		"many fields": func(l *scene) {
			succeeds(l, "load-1", before, nil)
			fails(l, "10:00", "load-2", manyFields, []string{"containers[main].image app:2 → mirror/app:2"}, func(j *sceneJob) { j.spec.ActiveDeadlineSeconds = new(int64(600)) })
		},
		"fewer fields": func(l *scene) {
			succeeds(l, "load-1", manyFields, nil)
			fails(l, "10:00", "load-2", before, []string{""}, nil)
		},
		"values that are hidden": func(l *scene) {
			succeeds(l, "load-1", before, key("t1"))
			fails(l, "10:00", "load-2", before, []string{"+containers[istio]"}, key("t2"))
		},
		"nothing": func(l *scene) {
			succeeds(l, "load-1", before, key("t1"))
			fails(l, "10:00", "load-2", before, nil, key("t1"))
		},
		"nothing that is recorded": func(l *scene) {
			succeeds(l, "load-1", before, nil)
			fails(l, "10:00", "load-2", before, []string{"+containers[istio]"}, key("t1"))
		},
		"templates that are not kept": func(l *scene) {
			succeeds(l, "load-1", "", nil)
			fails(l, "10:00", "load-2", `not JSON`, []string{"+containers[istio]"}, nil)
		},
		"three that failed since": func(l *scene) {
			succeeds(l, "load-1", before, of("", "", "load-"))
			for i, name := range []string{"load-2", "load-3", "load-4"} {
				fails(l, []string{"10:00", "11:00", "12:00"}[i], name, before, nil, of("", "", "load-"))
			}
		},
		"none succeeded": func(l *scene) {
			fails(l, "10:00", "load", before, nil, nil)
			fails(l, "11:00", "load-2", before, nil, of("CronJob", "load", ""))
			fails(l, "12:00", "load-3", before, nil, of("CronJob", "load", ""))
		},
		"others at the same time": func(l *scene) {
			succeeds(l, "alpha", before, nil)
			fails(l, "09:01", "beta", before, nil, nil)
			fails(l, "09:02", "gamma", manyFields, nil, func(j *sceneJob) { j.e.Namespace = "other" })
			fails(l, "09:03", "delta", before, nil, nil)
			fails(l, "09:04", "epsilon", manyFields, nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, false)
			play(l)
			l.judged()
		})
	}
}

package explain_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestScenesOfPods: how pods of a Job end that has two of them at a time, and what they wait for, in both modes.
func TestScenesOfPods(t *testing.T) {
	two := func(j *sceneJob) { j.spec.Parallelism, j.spec.Completions = new(int32(2)), new(int32(4)) }
	both := func(l *scene, change func(*sceneJob)) (*sceneJob, *scenePod, *scenePod) {
		l.tell("08:59:30", events.Controller, events.KindClusterWatched, &events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingOn}, events.Evidence{})
		l.node("08:59:40", "node-1", func(*events.NodeSeen) {})
		j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
			two(j)
			if change != nil {
				change(j)
			}
		})
		j.starts("09:00:01")
		a, b := j.pod("09:00:01", "demo-a", nil), j.pod("09:00:01", "demo-b", nil)
		return j, a, b.runs("09:00:04", "node-2")
	}
	evicted := func(p *scenePod, clock, reason, message string) {
		p.see(clock, func(p *scenePod) {
			p.disrupted(reason, message, clock)
			p.f.Deleted, p.f.DeletionGracePeriodSeconds = cronClock(clock).Add(30*time.Second), new(int64(30))
		})
	}
	for name, play := range map[string]func(l *scene){
		"evicted, preempted": func(l *scene) {
			_, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			evicted(a, "09:00:10", "EvictionByEvictionAPI", "Eviction API: evicting")
			evicted(b, "09:00:12", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
			a.fails("09:00:14", 143, "").counted("09:00:15")
			a.gone("09:00:16")
			b.succeeds("09:00:20").counted("09:00:21")
			b.gone("09:00:22")
		},
		"a taint, and its node says nothing": func(l *scene) {
			_, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			l.node("09:01:00", "node-1", func(f *events.NodeSeen) {
				f.Ready, f.Since, f.Cordoned, f.Pressures, f.Taints = events.NodeUnheard, cronClock("09:00:50"), true, []string{"MemoryPressure"}, []string{"ops/drain"}
			})
			evicted(a, "09:06:00", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
			evicted(b, "09:06:01", "DeletionByPodGC", "PodGC: node no longer exists")
			l.node("09:08:00", "node-2", func(f *events.NodeSeen) { f.Ready, f.Since = events.NodeNotReady, cronClock("09:07:50") })
		},
		"its node killed it": func(l *scene) {
			_, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			l.node("09:00:08", "node-1", func(f *events.NodeSeen) { f.Pressures = []string{"DiskPressure"} })
			a.see("09:00:10", func(p *scenePod) {
				p.disrupted("TerminationByKubelet", "The node was low on resource: ephemeral-storage", "09:00:10")
				p.f.Phase, p.f.Finished, p.e.Reason, p.e.Message = events.PodFailed, cronClock("09:00:10"), "Evicted", "The node was low on resource: ephemeral-storage"
			})
			b.see("09:00:12", func(p *scenePod) {
				p.f.Phase, p.f.Finished, p.e.Reason, p.e.Message = events.PodFailed, cronClock("09:00:12"), "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
			})
			a.counted("09:00:13")
			a.gone("09:00:14")
		},
		"containers of all kinds": func(l *scene) {
			_, a, b := both(l, nil)
			a.see("09:00:06", func(p *scenePod) {
				p.f.Scheduled, p.e.Node, p.f.Phase, p.f.Finished = true, "node-1", events.PodFailed, cronClock("09:00:06")
				p.exits("init", 2, "09:00:05", func(k *events.ContainerEnd) {
					k.Kind, k.Message = events.InitContainer, "no such host db\n at main.go:7\n"
				})
			})
			b.see("09:00:20", func(p *scenePod) {
				p.f.Phase, p.f.Finished, p.e.Running = events.PodFailed, cronClock("09:00:20"), 0
				p.exits("proxy", 137, "09:00:19", func(k *events.ContainerEnd) { k.Kind, k.Reason = events.SidecarContainer, "OOMKilled" })
				p.exits("main", 1, "09:00:18", func(k *events.ContainerEnd) { k.Reason, k.Message = "Error", "lost the connection" })
				p.exits("other", 255, "09:00:18", func(k *events.ContainerEnd) { k.Reason = "Unknown" })
			})
		},
		"deleted by a client, by force, after its end": func(l *scene) {
			j, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			a.deleted("09:00:10", 30)
			b.deleted("09:00:12", 0)
			b.gone("09:00:12")
			a.fails("09:00:14", 143, "").counted("09:00:15")
			a.gone("09:00:16")
			c := j.pod("09:00:22", "demo-c", nil).runs("09:00:23", "node-1")
			c.fails("09:00:30", 1, "").counted("09:00:31")
			c.deleted("09:00:40", 30)
			c.gone("09:00:41")
		},
		"one waits to be deleted, one is kept": func(l *scene) {
			_, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			a.deleted("09:00:10", 20)
			b.see("09:00:12", func(p *scenePod) {
				p.f.Deleted, p.f.DeletionGracePeriodSeconds, p.e.Finalizers = cronClock("09:00:32"), new(int64(20)), []string{"corp.example/logs", "batch.kubernetes.io/job-tracking"}
			})
			b.fails("09:00:20", 143, "").counted("09:00:21")
			l.node("09:02:00", "node-1", func(f *events.NodeSeen) { f.Ready = events.NodeUnheard })
			l.node("09:10:00", "node-3", func(*events.NodeSeen) {})
		},
		"both wait": func(l *scene) {
			_, a, b := both(l, func(j *sceneJob) { j.spec.Parallelism = new(int32(5)) })
			a.see("09:00:06", waits("Unschedulable", "", "0/3 nodes are available: 3 Insufficient cpu."))
			c := b.j.pod("09:00:07", "demo-c", func(p *scenePod) { p.f.Waiting, p.e.Gates = "SchedulingGated", []string{"corp.example/budget"} })
			d := b.j.pod("09:00:08", "demo-d", nil)
			d.see("09:00:09", waits("CreateContainerConfigError", "main", `secret "db" not found`))
			l.node("09:01:00", "node-3", func(*events.NodeSeen) {})
			c.see("09:01:01", func(p *scenePod) { p.f.Waiting, p.e.Gates = "", nil })
			d.runs("09:01:30", "node-2")
			e := b.j.pod("09:01:31", "demo-e", nil)
			e.see("09:01:32", waits("Unschedulable", "", "0/3 nodes are available: 3 Insufficient cpu."))
			l.node("09:05:00", "node-3", func(*events.NodeSeen) {})
		},
		"nothing is heard of two": func(l *scene) {
			_, a, b := both(l, nil)
			bound := func(p *scenePod) {
				p.f.Scheduled, p.e.Node, p.f.Conditions = true, "node-1", []events.PodCondition{{Type: "PodScheduled", Status: "True"}}
			}
			a.see("09:00:05", bound)
			b.succeeds("09:00:20").counted("09:00:21")
			c := b.j.pod("09:00:22", "demo-c", nil)
			c.see("09:00:23", bound)
			l.node("09:01:00", "node-1", func(f *events.NodeSeen) { f.Ready, f.Since = events.NodeUnheard, cronClock("09:00:50") })
			l.node("09:03:00", "node-2", func(*events.NodeSeen) {})
		},
		"parallelism is lowered, raised, and it is suspended": func(l *scene) {
			j, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			j.edit("09:00:10", "kubectl-scale", func(s *events.JobSpec) { s.Parallelism = new(int32(1)) })
			a.deleted("09:00:11", 30)
			a.fails("09:00:12", 143, "").counted("09:00:13")
			a.gone("09:00:14")
			j.edit("09:00:30", "", func(s *events.JobSpec) {
				s.Parallelism, s.BackoffLimit, s.ActiveDeadlineSeconds = new(int32(3)), new(int32(1)), new(int64(900))
			})
			j.edit("09:00:40", "kubectl-patch", func(s *events.JobSpec) { s.Suspend = true })
			b.deleted("09:00:41", 30)
			b.gone("09:00:45")
			j.edit("09:01:40", "kubectl-patch", func(s *events.JobSpec) { s.Suspend = false })
			c := j.pod("09:01:42", "demo-c", nil).runs("09:01:43", "node-1")
			c.deleted("09:01:50", 30)
			j.edit("09:02:00", "kubectl-patch", func(s *events.JobSpec) { s.Suspend = true })
		},
		"its Job is deleted": func(l *scene) {
			j, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			j.gone("09:00:10")
			a.deleted("09:00:10", 30)
			a.gone("09:00:12")
			b.gone("09:00:13")
		},
		"its Job is deleted without it": func(l *scene) {
			j, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			j.seen.Deleted = cronClock("09:00:10")
			j.e.Finalizers = []string{"orphan"}
			j.see("09:00:10", events.KindJobChanged)
			for _, p := range []*scenePod{a, b} {
				l.tell("09:00:11", j.of, events.KindPodDeleted, &events.PodGone{UID: p.f.UID, Version: l.next(), Moved: true}, events.Evidence{})
			}
			j.gone("09:00:12")
		},
		"a pod is taken away": func(l *scene) {
			j, a, b := both(l, nil)
			l.tell("09:00:11", j.of, events.KindPodDeleted, &events.PodGone{UID: b.f.UID, Version: l.next(), Moved: true}, events.Evidence{})
			l.tell("09:00:12", j.of, events.KindPodDeleted, &events.PodGone{UID: a.f.UID, Version: l.next(), Missed: true}, events.Evidence{})
		},
		"its namespace is deleted": func(l *scene) {
			j, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			l.add("09:00:10", events.Controller, events.KindNamespaceChanged, &events.NamespaceSeen{Name: "batch", UID: "uid-ns", Deleted: cronClock("09:00:09")})
			a.deleted("09:00:11", 30)
			b.deleted("09:00:11", 30)
			a.gone("09:00:13")
			b.gone("09:00:13")
			j.gone("09:00:14")
			l.add("09:00:20", events.Controller, events.KindNamespaceChanged, &events.NamespaceSeen{Name: "batch", UID: "uid-ns", Gone: true})
		},
		"nobody watched": func(l *scene) {
			_, a, b := both(l, nil)
			a.runs("09:00:05", "node-1")
			all := []events.Resource{events.Jobs, events.Pods}
			l.add("09:10:00", events.Controller, events.KindListingStarted, &events.ListingStarted{
				Reason: events.ListingRelisted, Resources: all, LastSeen: cronClock("09:00:06"), LastVersions: []uint64{1, 1},
			})
			a.see("09:10:00", func(p *scenePod) {
				p.f.Phase, p.f.Finished, p.f.Deleted, p.f.DeletionGracePeriodSeconds = events.PodFailed, cronClock("09:04:00"), cronClock("09:04:30"), new(int64(30))
				p.exits("main", 143, "09:04:00", nil)
			})
			l.tell("09:10:00", b.j.of, events.KindPodDeleted, &events.PodGone{UID: b.f.UID, Version: l.next(), Missed: true}, events.Evidence{})
			l.add("09:10:01", events.Controller, events.KindSynced, &events.Synced{Resources: all, Versions: []uint64{2000, 2000}})
			l.node("09:10:02", "node-1", func(*events.NodeSeen) {})
		},
		"versions were passed over": func(l *scene) {
			_, a, b := both(l, nil)
			l.tell("09:04:00", events.Controller, events.KindPassedOver, &events.PassedOver{Since: cronClock("09:00:00"), Versions: 70}, events.Evidence{Namespace: "batch"})
			a.see("09:05:00", func(p *scenePod) { p.e.PassedOver = 1 })
			b.see("09:05:01", func(p *scenePod) {
				p.f.Deleted, p.f.DeletionGracePeriodSeconds, p.e.PassedOver = cronClock("09:05:31"), new(int64(30)), 3
			})
			b.fails("09:05:05", 143, "")
		},
	} {
		for _, ours := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ours: %t", name, ours), func(t *testing.T) {
				l := newScene(t, ours)
				play(l)
				l.judged()
			})
		}
	}
}

// TestScenesOfEnds: how Jobs end by their rules, and how close others were to it.
func TestScenesOfEnds(t *testing.T) {
	indexed := func(j *sceneJob) {
		j.spec.CompletionMode, j.spec.Completions, j.spec.Parallelism = "Indexed", new(int32(4)), new(int32(4))
	}
	at := func(i int32) func(*scenePod) { return func(p *scenePod) { p.f.Index = i } }
	builtin := map[string]bool{"too many failures, and who deleted the last": true} // it counts a pod that is being deleted
	for name, play := range map[string]func(l *scene){
		"an index too many failed": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				indexed(j)
				j.spec.BackoffLimitPerIndex, j.spec.MaxFailedIndexes, j.spec.BackoffLimit = new(int32(0)), new(int32(1)), nil
			})
			j.starts("09:00:01")
			a, b := j.pod("09:00:01", "demo-0-a", at(0)).runs("09:00:02", "node-1"), j.pod("09:00:02", "demo-1-b", at(1)).runs("09:00:02", "node-2")
			c := j.pod("09:00:02", "demo-2-c", at(2)).runs("09:00:03", "node-1")
			c.succeeds("09:00:05").counted("09:00:05")
			j.status("09:00:06", func(s *events.JobStatus) { s.CompletedIndexes = "2" })
			a.fails("09:00:09", 7, "shard 0 is broken").counted("09:00:10")
			j.status("09:00:10", func(s *events.JobStatus) { s.FailedIndexes = new("0") })
			b.fails("09:00:12", 7, "shard 1 is broken").counted("09:00:13")
			j.stat.FailedIndexes = new("0,1")
			j.ends("09:00:13", status.Failed, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
		},
		"every index has ended": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				indexed(j)
				j.spec.Completions, j.spec.BackoffLimitPerIndex, j.spec.BackoffLimit = new(int32(2)), new(int32(1)), nil
			})
			j.starts("09:00:01")
			a := j.pod("09:00:01", "demo-0-a", at(0)).runs("09:00:02", "node-1")
			j.pod("09:00:02", "demo-1-b", at(1)).runs("09:00:02", "node-2").succeeds("09:00:05").counted("09:00:05")
			j.status("09:00:06", func(s *events.JobStatus) { s.CompletedIndexes = "1" })
			a.fails("09:00:09", 7, "").counted("09:00:10")
			a2 := j.pod("09:00:19", "demo-0-c", func(p *scenePod) { p.f.Index, p.f.IndexFailures = 0, 1 }).runs("09:00:20", "node-2")
			a2.fails("09:00:29", 8, "").counted("09:00:30")
			j.stat.FailedIndexes = new("0")
			j.ends("09:00:31", status.Failed, "FailedIndexes", "Job has failed indexes")
		},
		"a rule of its policy": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.spec.PodFailurePolicy = `{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[42]}}]}`
			})
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").fails("09:00:09", 42, "bad configuration").counted("09:00:10")
			j.ends("09:00:10", status.Failed, "PodFailurePolicy", "Container main for pod batch/demo-a failed with exit code 42 matching FailJob rule at index 0")
		},
		"its success policy": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				indexed(j)
				j.spec.SuccessPolicy = `{"rules":[{"succeededIndexes":"0"}]}`
			})
			j.starts("09:00:01")
			a, b := j.pod("09:00:01", "demo-0-a", at(0)).runs("09:00:02", "node-1"), j.pod("09:00:02", "demo-1-b", at(1)).runs("09:00:02", "node-2")
			a.succeeds("09:00:09").counted("09:00:10")
			j.stat.CompletedIndexes = "0"
			j.status("09:00:10", func(s *events.JobStatus) {
				s.Conditions = []events.JobCondition{{Type: status.SuccessCriteriaMet, Status: "True", Reason: "SuccessPolicy", Message: "Matched rules at index 0", Since: cronClock("09:00:10")}}
			})
			b.deleted("09:00:11", 30)
			b.fails("09:00:12", 143, "")
			b.gone("09:00:13")
			j.ends("09:00:13", status.Complete, "SuccessPolicy", "Matched rules at index 0")
		},
		"too many failures, and who deleted the last": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(1)) })
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").fails("09:00:09", 1, "").counted("09:00:10")
			b := j.pod("09:00:19", "demo-b", nil).runs("09:00:20", "node-1")
			b.deleted("09:00:25", 30)
			j.status("09:00:25", func(s *events.JobStatus) { s.Failed = 2 })
			j.ends("09:00:25", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
			b.fails("09:00:27", 143, "")
			b.gone("09:00:28")
		},
		"a third of its tries": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.BackoffLimit, j.spec.ActiveDeadlineSeconds = new(int32(3)), new(int64(150)) })
			j.starts("09:00:01")
			for i, clock := range []string{"09:00", "09:01", "09:02"} {
				p := j.pod(clock+":02", fmt.Sprintf("demo-%d", i), nil).runs(clock+":03", fmt.Sprintf("node-%d", i))
				p.fails(clock+":09", int32(i+1), fmt.Sprintf("try %d: no route to host", i)).counted(clock + ":10")
			}
			j.pod("09:02:20", "demo-3", nil).runs("09:02:21", "node-1").succeeds("09:02:28").counted("09:02:29")
			j.ends("09:02:29", status.Complete, "CompletionsReached", "Reached expected number of succeeded pods")
			l.node("09:03:00", "node-1", func(*events.NodeSeen) {})
		},
		"its time to live": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.TTLSecondsAfterFinished = new(int32(60)) })
			j.starts("09:00:01")
			p := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").succeeds("09:00:09")
			p.counted("09:00:10")
			j.ends("09:00:10", status.Complete, "CompletionsReached", "")
			l.node("09:00:30", "node-1", func(*events.NodeSeen) {})
			j.gone("09:01:11")
			p.gone("09:01:12")
		},
		"deleted before its time to live": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) {
				j.spec.TTLSecondsAfterFinished = new(int32(60))
				j.e.Origin = &events.Origin{Kind: "Workflow", Name: "flow", UID: types.UID("uid-flow"), Labels: []events.ObjectLabel{{Name: "team", Value: "data"}}}
			})
			j.starts("09:00:01")
			j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1").succeeds("09:00:09").counted("09:00:10")
			j.ends("09:00:10", status.Complete, "CompletionsReached", "")
			j.gone("09:00:31")
		},
		"it is adopted by another controller": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.seen.ManagedBy = "example.com/scheduler" })
			j.starts("09:00:01")
			p := j.pod("09:00:01", "demo-a", nil).runs("09:00:02", "node-1")
			p.deleted("09:00:10", 30)
			p.gone("09:00:12")
			j.ends("09:00:13", status.Failed, "Evicted", "the scheduler took its quota back")
		},
		"many failed on many nodes": func(l *scene) {
			j := l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(5)) })
			j.starts("09:00:01")
			for i := range 6 {
				clock := fmt.Sprintf("09:%02d", 10*i)
				p := j.pod(clock+":02", fmt.Sprintf("demo-%d", i), nil).runs(clock+":03", fmt.Sprintf("node-%d", i/2))
				p.fails(clock+":09", []int32{1, 1, 2, 3, 137, 5}[i], []string{"a", "b", "a", "", "", "c"}[i]).counted(clock + ":10")
				p.gone(clock + ":11")
			}
			j.ends("09:50:12", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
		},
	} {
		for _, ours := range []bool{false, true} {
			if ours && builtin[name] {
				continue
			}
			t.Run(fmt.Sprintf("%s, ours: %t", name, ours), func(t *testing.T) {
				l := newScene(t, ours)
				play(l)
				l.judged()
			})
		}
	}
}

package explain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/failures"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// disrupts makes a Job of a scene whose pods run on node-1 for 6 s and are disrupted there, so the Job fails. It calls
// then behind each record of a disruption.
func disrupts(l *scene, minute int, reason, message string, then func(clock string)) *sceneJob {
	at := func(second string) string { return fmt.Sprintf("09:%02d:%s", minute, second) }
	j := l.job(at("00"), fmt.Sprint("job", minute), "{}", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(minute % 2)) })
	j.starts(at("01"))
	for i := range minute%2 + 1 {
		clock := func(second int) string { return at(fmt.Sprintf("%02d", 20*i+second)) }
		p := j.pod(clock(3), fmt.Sprintf("x%d-%d", minute, i), nil).runs(clock(4), "node-1")
		p.see(clock(10), func(p *scenePod) { p.disrupted(reason, message, clock(10)) })
		if then != nil {
			then(clock(10))
		}
		if reason != "TerminationByKubelet" { // a kubelet deletes no pod
			p.deleted(clock(10), 5)
		}
		p.fails(clock(12), 143, "")
		p.counted(clock(13))
	}
	j.ends(at("50"), status.Failed, "BackoffLimitExceeded", "")
	return j
}

// TestWhoIsUnknownIsSaidOnce: who evicted a pod, tainted its node, deleted it or shut it down is in no record. The
// verdict says so, and no other section says it again.
func TestWhoIsUnknownIsSaidOnce(t *testing.T) {
	for name, row := range map[string]struct {
		reason, message string
		node            func(*events.NodeSeen) // how the node was; nil for in order
		says            string
		unknown         string
	}{
		"evicted": {"EvictionByEvictionAPI", "Eviction API: evicting", nil,
			"its only try was evicted through the eviction API (by whom is unknown); backoffLimit is 0", "by whom is unknown"},
		"drained": {"EvictionByEvictionAPI", "Eviction API: evicting", func(n *events.NodeSeen) { n.Cordoned = true },
			"evicted through the eviction API (node-1 was cordoned; by whom is unknown)", "by whom is unknown"},
		"preempted": {"PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod", nil,
			"preempted by the scheduler (for which pod is unknown)", "is unknown"},
		"tainted": {"DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
			func(n *events.NodeSeen) { n.Taints = []string{"maintenance"} },
			"its only try was deleted for taint maintenance of node-1 (who set it is unknown)", "who set it is unknown"},
		"tainted for a moment": {"DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
			func(n *events.NodeSeen) { n.Taints = []string{"brief"} },
			"its only try was deleted for taint brief of node-1 (who set it is unknown)", "who set it is unknown"},
		"of a node that is not heard of": {"DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
			func(n *events.NodeSeen) { n.Ready = events.NodeUnheard },
			"deleted for a taint of node-1 (node node-1 NotReady (its kubelet is not heard of))", "is unknown"},
		"shut down": {"TerminationByKubelet", "Pod was terminated in response to imminent node shutdown.", nil,
			"terminated by the kubelet of node-1 (imminent node shutdown; who shut the node down is unknown)", "is unknown"},
		"its node is gone": {"DeletionByPodGC", "PodGC: node no longer exists", nil,
			"deleted as its node was gone (node-1 was removed; by whom is unknown)", "by whom is unknown"},
	} {
		for mode, ours := range map[string]bool{"ours": true, "observed": false} {
			t.Run(name+", "+mode, func(t *testing.T) {
				l := newScene(t, ours)
				if row.node != nil {
					l.node("08:59:00", "node-1", row.node)
				}
				var then func(clock string)
				if name == "tainted for a moment" {
					then = func(clock string) { l.node(clock, "node-1", func(*events.NodeSeen) {}) }
				}
				j := disrupts(l, 0, row.reason, row.message, then)
				c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
				if err != nil {
					t.Fatal(err)
				}
				a := c.Answer()
				text := show.Markdown(&a, c.Zone)
				hold(t, a.Verdict.Text, []string{row.says}, nil)
				want := 1
				if name == "of a node that is not heard of" { // the node lifecycle controller taints it
					want = 0
				}
				if n := strings.Count(text, row.unknown); n != want {
					t.Errorf("%q stands %d times, want %d:\n%s", row.unknown, n, want, text)
				}
				l.judged()
			})
		}
	}
}

// TestANodeThatCostSeveralJobs: failures names the node once for all Jobs that failed for it, whatever their limits.
func TestANodeThatCostSeveralJobs(t *testing.T) {
	for name, row := range map[string]struct {
		reason, message string
		node            func(*events.NodeSeen)
		says            string // empty if the Jobs have nothing in common but the node
	}{
		"drained": {"EvictionByEvictionAPI", "Eviction API: evicting", func(n *events.NodeSeen) { n.Cordoned = true },
			"node-1 was cordoned, and its pods were evicted, as by a drain; by whom is unknown"},
		"evicted, and the node is in order": {"EvictionByEvictionAPI", "Eviction API: evicting", func(*events.NodeSeen) {}, ""},
		"tainted": {"DeletionByTaintManager", "deleting due to NoExecute taint",
			func(n *events.NodeSeen) { n.Taints = []string{"maintenance"} },
			"node-1 was tainted (maintenance), so its pods were deleted; by whom is unknown"},
		"gone": {"DeletionByPodGC", "PodGC: node no longer exists", func(*events.NodeSeen) {},
			"node-1 was removed, so its pods were deleted; by whom is unknown"},
		"short of memory": {"TerminationByKubelet", "The node was low on resource: memory. Container main was using 1Mi",
			func(*events.NodeSeen) {}, "the kubelet of node-1 ended pods: The node was low on resource: memory"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, true)
			l.node("08:59:00", "node-1", row.node)
			for minute := range 3 {
				disrupts(l, minute, row.reason, row.message, nil)
			}
			f, err := failures.Find(t.Context(), l.source(), failures.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if row.says == "" {
				for i := range f.Items {
					if f.Items[i].Node != "" {
						t.Errorf("%s failed for %s", f.Items[i].Name, f.Items[i].Node)
					}
				}
				return
			}
			if len(f.Causes) != 1 || f.Causes[0].Jobs != 3 || f.Causes[0].Why != row.says || f.Items[0].Node != "node-1" {
				t.Errorf("the causes are %+v, want one that says %q", f.Causes, row.says)
			}
			var b strings.Builder
			if err := (&show.Page{Out: &b, Width: 200}).Failures(&f); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(b.String(), "node-1"); n != 1 {
				t.Errorf("the node is named %d times:\n%s", n, b.String())
			}
			l.judged()
		})
	}
}

// TestADeletionAfterTheEndIsNoCause: when the object of an ended Job was deleted stands last among its dates, and names
// itself; a Job that is deleted before its end says it in the verdict alone.
func TestADeletionAfterTheEndIsNoCause(t *testing.T) {
	for _, ended := range []bool{true, false} {
		l := newScene(t, true)
		j := l.job("09:00:00", "demo", "{}", func(j *sceneJob) { j.spec.BackoffLimit = new(int32) })
		j.starts("09:00:01")
		p := j.pod("09:00:02", "x1", nil).runs("09:00:03", "node-1")
		if ended {
			p.fails("09:00:09", 3, "")
			p.counted("09:00:10")
			j.ends("09:00:11", status.Failed, "BackoffLimitExceeded", "")
		}
		j.gone("09:01:00")
		c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		a := c.Answer()
		lines := strings.Split(show.Markdown(&a, c.Zone), "\n")
		if ended && !strings.Contains(lines[2], "history complete · deleted after its end, at 09:01:00, by an API client") {
			t.Errorf("its dates are %q", lines[2])
		}
		if !ended && (strings.Contains(lines[2], "deleted") || !strings.Contains(lines[0], "by an API client")) {
			t.Errorf("the Job that had not ended: %q, and its dates are %q", lines[0], lines[2])
		}
		if a.Deleted == nil || time.Duration(a.Deleted.At) == 0 {
			t.Errorf("JSON lacks the deletion: %+v", a.Deleted)
		}
	}
}

// TestWhyADeletedJobHadNotEnded: the verdict on a deleted Job says what it waited for.
func TestWhyADeletedJobHadNotEnded(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*events.JobSpec)
		pod    func(*scenePod)
		says   string
	}{
		"created suspended": {func(s *events.JobSpec) { s.Suspend = true }, nil,
			"(namespaces are not watched; which is unknown): it was created suspended and never resumed"},
		"without parallelism": {func(s *events.JobSpec) { s.Parallelism = new(int32) }, nil,
			": its parallelism is 0 since its creation"},
		"a gate": {func(*events.JobSpec) {}, func(p *scenePod) {
			waits("SchedulingGated", "", "Scheduling is blocked")(p)
			p.e.Gates = []string{"corp.example/budget"}
		}, ", while its pod waited for at least 58s: SchedulingGated by corp.example/budget"},
		"a Secret": {func(*events.JobSpec) {}, waits("CreateContainerConfigError", "main", `secret "db" not found`),
			`, while its pod waited for at least 58s: CreateContainerConfigError: "secret 'db' not found"`},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, true)
			j := l.job("09:00:00", "demo", "{}", func(j *sceneJob) { row.change(&j.spec) })
			j.starts("09:00:01")
			if row.pod != nil {
				j.pod("09:00:02", "x1", row.pod)
			}
			j.gone("09:01:00")
			c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			a := c.Answer()
			hold(t, a.Verdict.Text, []string{row.says}, nil)
			l.judged()
		})
	}
}

// TestManyWaysAreCounted: a verdict that has no room for the ways in which tries ended counts them. A pod that was
// deleted by force and one that was given time are told apart.
func TestManyWaysAreCounted(t *testing.T) {
	l := newScene(t, true)
	j := l.job("09:00:00", "demo", "{}", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(3)) })
	j.starts("09:00:01")
	for i, end := range []func(p *scenePod, at func(int) string){
		func(p *scenePod, at func(int) string) { p.fails(at(9), 3, "") },
		func(p *scenePod, at func(int) string) {
			p.see(at(8), func(p *scenePod) { p.disrupted("DeletionByPodGC", "PodGC: node no longer exists", at(8)) })
			p.fails(at(9), 143, "")
		},
		func(p *scenePod, at func(int) string) {
			p.deleted(at(8), 0)
			p.fails(at(9), 143, "")
		},
		func(p *scenePod, at func(int) string) {
			p.deleted(at(8), 30)
			p.fails(at(9), 143, "")
		},
	} {
		at := func(second int) string { return fmt.Sprintf("09:%02d:%02d", i, second) }
		p := j.pod(at(2), fmt.Sprint("x", i), nil).runs(at(3), "node-1")
		end(p, at)
		p.counted(at(10))
	}
	j.ends("09:05:00", status.Failed, "BackoffLimitExceeded", "")
	c, err := job.Read(t.Context(), l.source(), j.of, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	a := c.Answer()
	hold(t, show.Markdown(&a, c.Zone), []string{
		"**PODS** x2 on node-1: deleted while it ran by an API client", "by force: no time to stop",
		"**PODS** x3 on node-1: deleted while it ran by an API client", "given 30s to stop",
	}, []string{"x2 and x3"})
	l.judged()
}

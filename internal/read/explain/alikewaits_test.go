package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
)

// caseOf is the case of a Job of a scene, as of a record; 0 for the end.
func (j *sceneJob) caseOf(at events.Sequence) *job.Case {
	j.l.t.Helper()
	c, err := job.Read(j.l.t.Context(), j.l.source(), j.of, history.Point{Sequence: at})
	if err != nil {
		j.l.t.Fatal(err)
	}
	return c
}

// told is what an answer about it says under a head, one sentence on each line.
func (j *sceneJob) told(head string) string {
	j.l.t.Helper()
	a := j.caseOf(0).Answer()
	return under(&a, head)
}

// three is a Job of three pods that have come, at one second each.
func (l *scene) three() (j *sceneJob, pods []*scenePod) {
	l.t.Helper()
	j = l.job("09:00:00", "demo", "", func(j *sceneJob) { j.spec.Parallelism, j.spec.Completions = new(int32(3)), new(int32(3)) })
	j.starts("09:00:01")
	for _, name := range []string{"demo-aaaaa", "demo-bbbbb", "demo-ccccc"} {
		pods = append(pods, j.pod("09:00:01", name, nil))
	}
	return j, pods
}

// TestPodsThatWaitForOtherThings: pods are told as one where they wait for the same, and not where they share the word
// for it alone. Since when is that of the longest wait; one that began later is told, too; and words that are about one
// of them are said to be.
func TestPodsThatWaitForOtherThings(t *testing.T) {
	const nodes = "0/3 nodes are available: 3 Insufficient cpu."
	for _, row := range []struct {
		name string
		play func(a, b, c *scenePod)
		want []string
	}{
		{"two images", func(a, b, c *scenePod) {
			a.see("09:00:05", waits("ImagePullBackOff", "main", `Back-off pulling image "app:1"`))
			b.see("09:00:06", waits("ImagePullBackOff", "main", `Back-off pulling image "app:2"`))
			c.see("09:00:07", waits("ImagePullBackOff", "main", `Back-off pulling image "app:1"`))
		}, []string{
			`demo-aaaaa and 1 other pod: ImagePullBackOff since 09:00:05 (55s): Back-off pulling image "app:1"`,
			`demo-bbbbb: ImagePullBackOff since 09:00:06 (54s): Back-off pulling image "app:2"`,
		}},
		{"one reason, later", func(a, b, c *scenePod) {
			b.see("09:00:05", waits("ContainerCreating", "main", ""))
			a.see("09:00:09", waits("ContainerCreating", "main", ""))
			c.see("09:00:30", waits("ContainerCreating", "main", ""))
		}, []string{`demo-bbbbb and 2 other pods: ContainerCreating since 09:00:05 (55s), the last since 09:00:30`}},
		{"other counts of nodes", func(a, b, c *scenePod) {
			a.see("09:00:02", waits("Unschedulable", "", nodes))
			b.see("09:00:02", waits("Unschedulable", "", "0/4 nodes are available: 4 Insufficient cpu."))
			c.see("09:00:03", waits("Unschedulable", "", "0/4 nodes are available: 4 Insufficient memory."))
		}, []string{
			"demo-aaaaa and 1 other pod: Unschedulable since 09:00:02 (58s); of demo-aaaaa: 0/3 nodes are available: 3 Insufficient cpu",
			"demo-ccccc: Unschedulable since 09:00:03 (57s): 0/4 nodes are available: 4 Insufficient memory",
		}},
		{"their own names", func(a, b, c *scenePod) {
			says := func(p *scenePod, d string) string {
				return "back-off " + d + " restarting failed container=main pod=" + p.e.Name + "_batch(" + string(p.f.UID) + ")"
			}
			a.see("09:00:02", waits("CrashLoopBackOff", "main", says(a, "20s")))
			b.see("09:00:02", waits("CrashLoopBackOff", "main", says(b, "1m20s")))
			c.see("09:00:02", waits("CrashLoopBackOff", "main", strings.Replace(says(c, "20s"), "=main", "=proxy", 1)))
		}, []string{
			"demo-aaaaa and 1 other pod: CrashLoopBackOff since 09:00:02 (58s); of demo-aaaaa: back-off 20s restarting failed container=main " +
				"pod=demo-aaaaa_batch(uid-demo-aaaaa)",
			"demo-ccccc: CrashLoopBackOff since 09:00:02 (58s): back-off 20s restarting failed container=proxy pod=demo-ccccc_batch(uid-demo-ccccc)",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, false)
			j, pods := l.three()
			row.play(pods[0], pods[1], pods[2])
			l.node("09:01:00", "node-9", func(*events.NodeSeen) {})
			if got := j.told("WAITS FOR"); got != strings.Join(row.want, "\n") {
				t.Errorf("it waits for\n%s\nwant\n%s", got, strings.Join(row.want, "\n"))
			}
		})
	}
}

// TestSilentNodes: two nodes of which nothing is heard are not told as one.
func TestSilentNodes(t *testing.T) {
	l := newScene(t, false)
	j, pods := l.three()
	for i, node := range []string{"node-1", "node-2", "node-1"} {
		pods[i].see("09:00:02", func(p *scenePod) {
			p.f.Scheduled, p.e.Node = true, node
			p.f.Conditions = []events.PodCondition{{Type: "PodScheduled", Status: "True"}}
		})
	}
	l.node("09:03:00", "node-9", func(*events.NodeSeen) {})
	a := j.caseOf(0).Answer()
	const want = "nothing is heard of demo-aaaaa and 1 other pod, bound to node-1"
	if !strings.HasSuffix(a.Verdict.Text, want) {
		t.Errorf("the verdict is %q, want %q at its end", a.Verdict.Text, want)
	}
}

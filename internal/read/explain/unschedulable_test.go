package explain_test

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestWhatTheSchedulerSays: of its sentence each reason has a line, what the fewest nodes have first, and the pod's own
// selector last, with what the pod template has of it. Its words stay as they are, and all of them. What is no such
// sentence is told as it is.
func TestWhatTheSchedulerSays(t *testing.T) {
	const template = `{"spec":{"nodeSelector":{"pool":"gpu","zone":"a"},"tolerations":[{"key":"gpu","operator":"Exists","effect":"NoSchedule"},` +
		`{"key":"team","value":"ml"}],"containers":[{"name":"main","image":"app:1","resources":{"requests":{"cpu":"4"}}},{"name":"log","image":"l:1"}],` +
		`"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"data"}},{"name":"e","emptyDir":{}}]}}`
	const preempts = "no new claims to deallocate, preemption: 0/186 nodes are available: 186 Preemption is not helpful for scheduling."
	const head = "Unschedulable since 09:00:02: 0/186 nodes are available: "
	for _, row := range []struct {
		name, template, says string
		admitted             []string
		want                 []string
	}{
		{"taint and selector", template, "0/186 nodes are available: 100 Insufficient cpu, 85 node(s) didn't match Pod's node affinity/selector, " +
			"1 node(s) had untolerated taint(s). " + preempts, nil, []string{
			head + "1 node(s) had untolerated taint(s) (its pod template tolerates gpu:NoSchedule, team=ml)",
			"100 Insufficient cpu (requested: main 4)",
			"85 node(s) didn't match Pod's node affinity/selector (its nodeSelector is pool=gpu,zone=a)", preempts,
		}},
		{"a taint that is named, and cordoned nodes", `{"spec":{"containers":[{"name":"main"}]}}`,
			"0/186 nodes are available: 1 node(s) were unschedulable, 185 node(s) had untolerated taint {dedicated: batch, zone}.", nil, []string{
				head + "1 node(s) were unschedulable", "185 node(s) had untolerated taint {dedicated: batch, zone} (its pod template has no tolerations)",
			}},
		{"a volume", template, "0/186 nodes are available: 6 Too many pods, 180 node(s) had volume node affinity conflict.", nil, []string{
			head + "6 Too many pods", "180 node(s) had volume node affinity conflict (it claims data)",
		}},
		{"admission changed it", template, "0/186 nodes are available: 6 Too many pods, 180 node(s) didn't match Pod's node affinity/selector.",
			[]string{"+nodeSelector"}, []string{
				head + "6 Too many pods", "180 node(s) didn't match Pod's node affinity/selector (admission changed its nodeSelector)",
			}},
		{"an affinity", `{"spec":{"affinity":{"nodeAffinity":{"a":1}}}}`, "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
			nil, []string{
				"demo-a: Unschedulable since 09:00:02 (58s): 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector (it has a nodeAffinity)",
			}},
		{"a template that is not kept", "", "0/186 nodes are available: 6 Too many pods, 180 node(s) had untolerated taint(s).", nil, []string{
			head + "6 Too many pods", "180 node(s) had untolerated taint(s)",
		}},
		{"other words", template, `0/3 nodes are available: persistentvolumeclaim "data" not found. ` + preempts, nil, []string{
			`demo-a: Unschedulable since 09:00:02 (58s): 0/3 nodes are available: persistentvolumeclaim "data" not found. ` + preempts,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, false)
			j := l.job("09:00:00", "demo", row.template, nil)
			j.starts("09:00:01")
			p := j.pod("09:00:01", "demo-a", func(p *scenePod) { p.e.Admitted = row.admitted })
			p.see("09:00:02", waits("Unschedulable", "", row.says))
			l.node("09:01:00", "node-9", func(*events.NodeSeen) {})
			if got := j.told("WAITS FOR"); got != strings.Join(row.want, "\n") {
				t.Errorf("it waits for\n%s\nwant\n%s", got, strings.Join(row.want, "\n"))
			}
			pod, err := j.caseOf(0).PodAnswer("demo-a")
			if err != nil {
				t.Fatal(err)
			}
			if got := under(&pod, "WAITS FOR"); strings.Count(got, "\n") != len(row.want)-1 || !strings.Contains(got, row.want[len(row.want)-1]) && len(row.want) > 1 {
				t.Errorf("the pod waits for\n%s", got)
			}
			p.gone("09:01:01")
			j.gone("09:01:02")
			if got := j.told("WAITED"); strings.Count(got, "\n") != len(row.want)-1 || !strings.Contains(got, row.want[len(row.want)-1]) && len(row.want) > 1 {
				t.Errorf("it waited for\n%s", got)
			}
		})
	}
}

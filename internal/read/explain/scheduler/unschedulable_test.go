package scheduler

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// TestAMessageIsSplit at the commas between its reasons; the reason with the fewest nodes comes first, and those of the
// pod's own selector last.
func TestAMessageIsSplit(t *testing.T) {
	for message, want := range map[string]string{
		"0/5 nodes are available: 5 Insufficient cpu.": "0/5 nodes are available | 5 Insufficient cpu (resources)",
		" 0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {a: b}. preemption: none\n": "0/5 nodes are available | " +
			"2 node(s) had untolerated taint {a: b} (tolerations) | 3 Insufficient cpu (resources) | tail preemption: none",
		"0/5 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 4 Insufficient memory.": "0/5 nodes are available | " +
			"4 Insufficient memory (resources) | 1 node(s) didn't match Pod's node affinity/selector (nodeSelector)",
		"0/2 nodes are available: 1 node(s) had taint {k: v, w}, 1 x.": "0/2 nodes are available | 1 node(s) had taint {k: v, w} (tolerations) | 1 x ()",
		"0/2 nodes are available: 2 node(s) had volume node affinity conflict": "0/2 nodes are available | 2 node(s) had volume node affinity conflict " +
			"(volumes)",
		"0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.": "0/2 nodes are available | " +
			"2 node(s) didn't match pod topology spread constraints (topologySpreadConstraints)",
		"0/2 nodes are available: 2 node(s) didn't match pod affinity rules.": "0/2 nodes are available | 2 node(s) didn't match pod affinity rules (affinity)",
		"0/2 nodes are available: 1 b, 1 a.":                                  "0/2 nodes are available | 1 b () | 1 a ()",
		"1/2 nodes are available: 1 b.":                                       "",
		"0/2 nodes are available: none.":                                      "",
		"0/2 nodes are available":                                             "",
		"no nodes available to schedule pods":                                 "",
		"it says 0/5 nodes are available: 5 Insufficient cpu.":                "",
		"0/2 nodes are available: 99999999999999999999 b.":                    "",
	} {
		u, is := Parse(message)
		parts := []string{}
		if is {
			parts = append(parts, u.head)
		}
		for _, p := range u.Parts {
			if is {
				parts = append(parts, p.text+" ("+p.asks+")")
			}
		}
		if u.Tail != "" {
			parts = append(parts, "tail "+u.Tail)
		}
		if got := strings.Join(parts, " | "); got != want || is != (want != "") {
			t.Errorf("%q: %s, %t\nwant %s", message, got, is, want)
		}
	}
}

// TestWhatAPodAsksFor is told of the field that a reason is about, by the pod's template.
func TestWhatAPodAsksFor(t *testing.T) {
	const all = `{"spec":{"nodeSelector":{"zone":"b","disk":"ssd"},"affinity":{"nodeAffinity":{}},
		"tolerations":[{"key":"a","operator":"Exists","value":"x"},{"key":"b","value":"c","effect":"NoSchedule"},{"operator":"Exists"},{"key":"d"}],
		"containers":[{"name":"main","resources":{"requests":{"cpu":"2","memory":"1Gi"}}},{"name":"side","resources":{"requests":{"cpu":"1"}}},{"name":"none"}],
		"volumes":[{"persistentVolumeClaim":{"claimName":"data"}},{},{"persistentVolumeClaim":{"claimName":"logs"}}]}}`
	for _, row := range []struct{ template, asks, text, admitted, want string }{
		{all, asksNodes, "1 x", "", "its nodeSelector is disk=ssd,zone=b; it has a nodeAffinity"},
		{`{"spec":{"nodeSelector":{"zone":"b"}}}`, asksNodes, "1 x", "", "its nodeSelector is zone=b"},
		{`{"spec":{"affinity":{"nodeAffinity":{}}}}`, asksNodes, "1 x", "", "it has a nodeAffinity"},
		{`{"spec":{"affinity":{"podAffinity":{}}}}`, asksNodes, "1 x", "", ""},
		{all, asksTaints, "1 x", "", "its pod template tolerates a, b=c:NoSchedule, every taint, d"},
		{`{"spec":{}}`, asksTaints, "1 x", "", "its pod template has no tolerations"},
		{all, asksVolumes, "1 x", "", "it claims data, logs"}, {`{"spec":{"volumes":[{}]}}`, asksVolumes, "1 x", "", ""},
		{all, asksCapacity, "3 Insufficient cpu", "", "requested: main 2, side 1"}, {all, asksCapacity, "3 Insufficient memory.", "", "requested: main 1Gi"},
		{all, asksCapacity, "3 Insufficient gpu,", "", ""}, {all, asksPods, "1 x", "", ""}, {all, asksSpread, "1 x", "", ""}, {all, "", "1 x", "+tolerations", ""},
		{"", asksTaints, "1 x", "", ""}, {"x", asksTaints, "1 x", "", ""}, {"x", asksTaints, "1 x", "+tolerations", ""},
		{all, asksTaints, "1 x", "+tolerations[0]", "admission changed its tolerations"},
		{all, asksTaints, "1 x", "-tolerations", "admission changed its tolerations"},
		{all, asksTaints, "1 x", "nodeSelector", "its pod template tolerates a, b=c:NoSchedule, every taint, d"},
	} {
		x := &try.Try{}
		if row.admitted != "" {
			x.Admitted = []string{"other", row.admitted}
		}
		if got := asks(x, []byte(row.template), &SchedulerPart{text: row.text, asks: row.asks}); got != row.want {
			t.Errorf("%s of %.40s, admitted %s: %q, want %q", row.asks, row.template, row.admitted, got, row.want)
		}
	}
}

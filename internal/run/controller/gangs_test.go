package controller

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/jobledger/jobledger/events"
)

// TestByWhichRuleGangsAreMade: it follows from what the server serves, and a run that cannot make any is told which
// version it needs (J-239).
func TestByWhichRuleGangsAreMade(t *testing.T) {
	of := func(groupVersion string, resources ...string) *metav1.APIResourceList {
		list := &metav1.APIResourceList{GroupVersion: groupVersion}
		for _, r := range resources {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: r})
		}
		return list
	}
	classes := of("scheduling.k8s.io/v1", "priorityclasses")
	beta := of("scheduling.k8s.io/v1beta1", "workloads", "podgroups")
	alpha := of("scheduling.k8s.io/v1alpha2", "workloads", "podgroups")
	older := of("scheduling.k8s.io/v1alpha1", "workloads")
	const all, asked, shape = events.GangsOfRoots, events.GangsAsked, events.GangsByShape
	for _, row := range []struct {
		sentence, server string
		serves           []*metav1.APIResourceList
		flag, rule       events.GangRule
		says             []string // none: the run goes on
	}{
		{"1.37 with the gate", "v1.37.2", []*metav1.APIResourceList{classes, beta}, all, all, nil},
		{"1.37 with the gate, who asks", "v1.37.2", []*metav1.APIResourceList{classes, beta}, asked, asked, nil},
		{"both versions", "v1.37.2", []*metav1.APIResourceList{classes, alpha, beta}, all, all, nil},
		{
			"1.37 without it", "v1.37.2", []*metav1.APIResourceList{classes, of("scheduling.k8s.io/v1beta1", "priorityclasses")}, all, all,
			[]string{"needs Kubernetes 1.37 with the feature gate GenericWorkload and scheduling.k8s.io/v1beta1", "v1.37.2", "serves neither"},
		},
		{"1.36 with the gate", "v1.36.3", []*metav1.APIResourceList{classes, alpha}, all, shape, nil},
		{
			"1.36 with the gate, who asks", "v1.36.3", []*metav1.APIResourceList{classes, alpha}, asked, asked,
			[]string{"=asked needs Kubernetes 1.37", "v1.36.3", "no Job can ask"},
		},
		{"1.36 without it", "v1.36.3", []*metav1.APIResourceList{classes}, all, all, []string{"v1.36.3", "or 1.36 with that gate"}},
		{"1.35", "v1.35.4", []*metav1.APIResourceList{classes, older}, all, all, []string{"needs Kubernetes 1.37", "v1.35.4"}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			client := fake.NewClientset()
			client.Resources = row.serves
			server := client.Discovery().(*fakediscovery.FakeDiscovery)
			server.FakedServerVersion = &version.Info{GitVersion: row.server}
			rule, missing, err := gangRule(server, row.flag)
			if err != nil || rule != row.rule || (missing != nil) != (len(row.says) > 0) {
				t.Fatalf("rule %d, missing %v, %v: want %d, and it to be missing: %t", rule, missing, err, row.rule, len(row.says) > 0)
			}
			for _, text := range row.says {
				if !strings.Contains(missing.Error(), text) {
					t.Errorf("it says %q, without %q", missing, text)
				}
			}
		})
	}
}

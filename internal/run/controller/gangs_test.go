package controller

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
)

// TestWhereGangsAreNotMade: a run is told which version it needs, and that a newer one is served of which no gangs are made yet (J-239).
func TestWhereGangsAreNotMade(t *testing.T) {
	of := func(groupVersion string, resources ...string) *metav1.APIResourceList {
		list := &metav1.APIResourceList{GroupVersion: groupVersion}
		for _, r := range resources {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: r})
		}
		return list
	}
	classes := of("scheduling.k8s.io/v1", "priorityclasses")
	for _, row := range []struct {
		sentence, server string
		serves           []*metav1.APIResourceList
		says             []string // none: the run goes on
	}{
		{"1.36 with the gate", "v1.36.3", []*metav1.APIResourceList{classes, of("scheduling.k8s.io/v1alpha2", "workloads", "podgroups")}, nil},
		{"1.36 without it", "v1.36.3", []*metav1.APIResourceList{classes}, []string{"needs Kubernetes 1.36 with the feature gate GenericWorkload", "v1.36.3"}},
		{"1.37 with the gate", "v1.37.2", []*metav1.APIResourceList{classes, of("scheduling.k8s.io/v1beta1", "workloads", "podgroups")},
			[]string{"only Kubernetes 1.36 serves", "v1.37.2 and serves scheduling.k8s.io/v1beta1", "No gangs are made yet"}},
		{"1.37 without it", "v1.37.2", []*metav1.APIResourceList{classes}, []string{"needs Kubernetes 1.36", "v1.37.2", "does not serve it"}},
		{"1.35", "v1.35.4", []*metav1.APIResourceList{classes, of("scheduling.k8s.io/v1alpha1", "workloads")}, []string{"needs Kubernetes 1.36", "v1.35.4"}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			client := fake.NewClientset()
			client.Resources = row.serves
			server := client.Discovery().(*fakediscovery.FakeDiscovery)
			server.FakedServerVersion = &version.Info{GitVersion: row.server}
			missing, err := gangsMissing(server)
			if err != nil || (missing != nil) != (len(row.says) > 0) {
				t.Fatalf("missing %v, %v: want it to be: %t", missing, err, len(row.says) > 0)
			}
			for _, text := range row.says {
				if !strings.Contains(missing.Error(), text) {
					t.Errorf("it says %q, without %q", missing, text)
				}
			}
		})
	}
}

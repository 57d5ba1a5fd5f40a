package v1alpha2

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCopiesShareNothing changes a copy everywhere, and looks at what it was made of.
func TestCopiesShareNothing(t *testing.T) {
	workload := func() *Workload {
		return &Workload{
			ObjectMeta: metav1.ObjectMeta{Name: "w", Annotations: map[string]string{"a": "b"}},
			Spec: WorkloadSpec{
				ControllerRef:     &ControllerRef{Name: "j"},
				PodGroupTemplates: []PodGroupTemplate{{Name: "t", SchedulingPolicy: Policy{Gang: &GangPolicy{MinCount: 3}}}},
			},
		}
	}
	w := workload()
	c := w.DeepCopyObject().(*Workload)
	if diff := cmp.Diff(w, c); diff != "" {
		t.Errorf("copy of a Workload (-want +got):\n%s", diff)
	}
	c.Annotations["a"], c.Spec.ControllerRef.Name, c.Spec.PodGroupTemplates[0].Name = "x", "x", "x"
	c.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount = 9
	if diff := cmp.Diff(workload(), w); diff != "" {
		t.Errorf("a Workload after its copy was changed (-want +got):\n%s", diff)
	}

	group := func() *PodGroup {
		return &PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: "g", Annotations: map[string]string{"a": "b"}},
			Spec: PodGroupSpec{
				PodGroupTemplateRef: &TemplateRef{Workload: &WorkloadTemplateRef{WorkloadName: "w", PodGroupTemplateName: "t"}},
				SchedulingPolicy:    Policy{Gang: &GangPolicy{MinCount: 3}},
			},
		}
	}
	g := group()
	d := g.DeepCopyObject().(*PodGroup)
	if diff := cmp.Diff(g, d); diff != "" {
		t.Errorf("copy of a PodGroup (-want +got):\n%s", diff)
	}
	d.Annotations["a"], d.Spec.PodGroupTemplateRef.Workload.WorkloadName, d.Spec.SchedulingPolicy.Gang.MinCount = "x", "x", 9
	if diff := cmp.Diff(group(), g); diff != "" {
		t.Errorf("a PodGroup after its copy was changed (-want +got):\n%s", diff)
	}
}

package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API version of these objects.
var GroupVersion = schema.GroupVersion{Group: "scheduling.k8s.io", Version: "v1alpha2"}

// Workload says how the pods of a Job are scheduled: one template for each group of pods.
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WorkloadSpec `json:"spec"`
}

// WorkloadSpec is the spec of a Workload. The API server does not allow changes to it.
type WorkloadSpec struct {
	ControllerRef     *ControllerRef     `json:"controllerRef,omitempty"`
	PodGroupTemplates []PodGroupTemplate `json:"podGroupTemplates"`
}

// ControllerRef names the object whose pods the Workload schedules, in the same namespace.
type ControllerRef struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// PodGroupTemplate is a template from which PodGroups are made.
type PodGroupTemplate struct {
	Name             string `json:"name"`
	SchedulingPolicy Policy `json:"schedulingPolicy"`
}

// Policy says how pods are scheduled: one by one (Basic), or all or none (Gang). One field is set.
type Policy struct {
	Basic *BasicPolicy `json:"basic,omitempty"`
	Gang  *GangPolicy  `json:"gang,omitempty"`
}

// BasicPolicy has no fields in 1.36.
type BasicPolicy struct{}

// GangPolicy schedules no pod until MinCount pods can be scheduled.
type GangPolicy struct {
	MinCount int32 `json:"minCount"`
}

// PodGroup is a group of pods that are scheduled together. The pods name their PodGroup.
type PodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PodGroupSpec `json:"spec"`
}

// PodGroupSpec is the spec of a PodGroup. The API server does not allow changes to it.
type PodGroupSpec struct {
	PodGroupTemplateRef *TemplateRef `json:"podGroupTemplateRef,omitempty"`
	SchedulingPolicy    Policy       `json:"schedulingPolicy"`
}

// TemplateRef names the template from which a PodGroup was made: one in a Workload.
type TemplateRef struct {
	Workload *WorkloadTemplateRef `json:"workload,omitempty"`
}

// WorkloadTemplateRef names a Workload, and a template in it.
type WorkloadTemplateRef struct {
	WorkloadName         string `json:"workloadName"`
	PodGroupTemplateName string `json:"podGroupTemplateName"`
}

// Sent returns a copy of the Workload with its kind and version set, as the API server expects it.
func (w *Workload) Sent() *Workload {
	sent := w.DeepCopy()
	sent.SetGroupVersionKind(GroupVersion.WithKind("Workload"))
	return sent
}

// Sent returns a copy of the PodGroup with its kind and version set, as the API server expects it.
func (g *PodGroup) Sent() *PodGroup {
	sent := g.DeepCopy()
	sent.SetGroupVersionKind(GroupVersion.WithKind("PodGroup"))
	return sent
}

// DeepCopyObject implements runtime.Object: it returns DeepCopy.
func (w *Workload) DeepCopyObject() runtime.Object { return w.DeepCopy() }

// DeepCopyObject implements runtime.Object: it returns DeepCopy.
func (g *PodGroup) DeepCopyObject() runtime.Object { return g.DeepCopy() }

// DeepCopy returns a copy that shares nothing with the Workload.
func (w *Workload) DeepCopy() *Workload {
	out := &Workload{TypeMeta: w.TypeMeta, ObjectMeta: *w.ObjectMeta.DeepCopy()}
	out.Spec.ControllerRef = copied(w.Spec.ControllerRef)
	for _, t := range w.Spec.PodGroupTemplates {
		t.SchedulingPolicy = t.SchedulingPolicy.DeepCopy()
		out.Spec.PodGroupTemplates = append(out.Spec.PodGroupTemplates, t)
	}
	return out
}

// DeepCopy returns a copy that shares nothing with the PodGroup.
func (g *PodGroup) DeepCopy() *PodGroup {
	out := &PodGroup{TypeMeta: g.TypeMeta, ObjectMeta: *g.ObjectMeta.DeepCopy()}
	out.Spec.SchedulingPolicy = g.Spec.SchedulingPolicy.DeepCopy()
	if r := g.Spec.PodGroupTemplateRef; r != nil {
		out.Spec.PodGroupTemplateRef = &TemplateRef{Workload: copied(r.Workload)}
	}
	return out
}

// DeepCopy returns a copy that shares nothing with the policy.
func (p Policy) DeepCopy() Policy {
	return Policy{Basic: copied(p.Basic), Gang: copied(p.Gang)}
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

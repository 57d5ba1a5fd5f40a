package kubewire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	batchv1 "k8s.io/api/batch/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const beta = "scheduling.k8s.io/v1beta1"

// TestAWorkloadIsReadAsItIsWhole: of random Workloads, alone and in a list, also of a server that knows more fields,
// what is read is what the whole object has.
func TestAWorkloadIsReadAsItIsWhole(t *testing.T) {
	for seed := range int64(seeds) {
		whole := &schedulingv1beta1.Workload{}
		filler(seed).Fill(whole)
		raw := encoded(t, whole)
		later := newer(raw, []protowire.Number{1}, []protowire.Number{2}, []protowire.Number{2, 2}, []protowire.Number{2, 2, 2}, []protowire.Number{2, 2, 2, 2})
		list := appendBytes(nil, 1, appendText(nil, 3, "the next page"))
		list = appendBytes(appendBytes(list, 2, raw), 2, later)
		all, next, err := ReadWorkloads(Wrap(beta, "WorkloadList", list))
		if err != nil || len(all) != 2 || next != "the next page" {
			t.Fatalf("seed %d: %d Workloads, next %q, %v", seed, len(all), next, err)
		}
		alone, err := ReadWorkload(Wrap(beta, "Workload", raw))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, got := range append(all, alone) {
			checkWorkload(t, seed, whole, got)
		}
	}
}

func checkWorkload(t *testing.T, seed int64, whole *schedulingv1beta1.Workload, got *Workload) {
	t.Helper()
	var ref ControllerRef
	if r := whole.Spec.ControllerRef; r != nil {
		ref = ControllerRef{r.APIGroup, r.Kind, r.Name}
	}
	if got.Name != whole.Name || got.UID != whole.UID || got.Controller != ref || got.Composite != (len(whole.Spec.CompositePodGroupTemplates) > 0) ||
		len(got.Templates) != len(whole.Spec.PodGroupTemplates) {
		t.Fatalf("seed %d: read %+v of %+v", seed, got, whole)
	}
	if diff := cmp.Diff(metav1.GetControllerOf(whole), metav1.GetControllerOf(got)); diff != "" {
		t.Fatalf("seed %d: the owner that controls it (-want +got):\n%s", seed, diff)
	}
	for i, template := range got.Templates {
		w, count := &whole.Spec.PodGroupTemplates[i], int32(0)
		if g := w.SchedulingPolicy.Gang; g != nil {
			count = g.MinCount
		}
		if template.Name != w.Name || template.MinCount != count {
			t.Fatalf("seed %d: template %+v of %+v", seed, template, w)
		}
	}
}

// TestAPodGroupIsAsItsTemplate: of random templates, each field but the name is in the PodGroup, those of a later
// version too, and the PodGroup is read as it was made.
func TestAPodGroupIsAsItsTemplate(t *testing.T) {
	for seed := range int64(seeds) {
		template := &schedulingv1beta1.PodGroupTemplate{}
		filler(seed).Fill(template)
		if seed%2 == 0 {
			template.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(seed + 1)}
		}
		raw := encoded(t, template)
		spec := appendBytes(nil, 2, raw)
		w, err := ReadWorkload(Wrap(beta, "Workload", appendBytes(nil, 2, appendBytes(spec, 2, newer(raw)))))
		if err != nil || len(w.Templates) != 2 {
			t.Fatalf("seed %d: %+v, %v", seed, w, err)
		}
		o := &NewGroupObject{Namespace: "ns", Name: "g", Annotations: []Pair{{Name: "a", Value: "b"}}, Owners: []metav1.OwnerReference{
			{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u", Controller: new(true), BlockOwnerDeletion: new(true)},
		}}
		for i := range w.Templates {
			body, err := o.PodGroup("w", &w.Templates[i])
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got, want := &schedulingv1beta1.PodGroup{}, &schedulingv1beta1.PodGroup{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g", Annotations: map[string]string{"a": "b"}, OwnerReferences: o.Owners},
				Spec: schedulingv1beta1.PodGroupSpec{
					WorkloadRef:           &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: template.Name},
					SchedulingPolicy:      template.SchedulingPolicy,
					SchedulingConstraints: template.SchedulingConstraints, ResourceClaims: template.ResourceClaims, DisruptionMode: template.DisruptionMode,
					PriorityClassName: template.PriorityClassName, Priority: template.Priority, PreemptionPolicy: template.PreemptionPolicy,
				},
			}
			if err := got.Unmarshal(body); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if diff := cmp.Diff(normal(t, want), got); diff != "" {
				t.Fatalf("seed %d: PodGroup (-want +got):\n%s", seed, diff)
			}
			if i == 1 && !bytes.Contains(body, []byte("of a later version")) {
				t.Fatalf("seed %d: a field of a later version is lost", seed)
			}
			read, err := ReadPodGroup(Wrap(beta, "PodGroup", body))
			if err != nil || read.Name != "g" || metav1.GetControllerOf(read).UID != "u" || read.MinCount != w.Templates[i].MinCount {
				t.Fatalf("seed %d: read %+v, %v", seed, read, err)
			}
		}
	}
}

// normal is an object after its way through protobuf, where an empty list is none.
func normal(t *testing.T, g *schedulingv1beta1.PodGroup) *schedulingv1beta1.PodGroup {
	t.Helper()
	out := &schedulingv1beta1.PodGroup{}
	if err := out.Unmarshal(encoded(t, g)); err != nil {
		t.Fatal(err)
	}
	return out
}

// scheduled is a Job that says all that can be said of scheduling.
func scheduled() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "u"}}
	job.Spec.Template.Spec.PriorityClassName = "high"
	job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{
		SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: new(int32(2))},
		},
		SchedulingConstraints: &schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints{
			Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "rack"}},
		},
		DisruptionMode: &schedulingv1alpha3.WorkloadPodGroupDisruptionMode{All: &schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode{}},
		ResourceClaims: []schedulingv1alpha3.WorkloadPodGroupResourceClaim{
			{Name: "a", ResourceClaimName: new("one")}, {Name: "b", ResourceClaimTemplateName: new("two")},
		},
	}
	return job
}

// TestAWorkloadSaysWhatItsJobSays: what spec.scheduling has, the priority class, and the minCount that was decided on,
// are in its template.
func TestAWorkloadSaysWhatItsJobSays(t *testing.T) {
	gang := func(n int32) schedulingv1beta1.PodGroupSchedulingPolicy {
		return schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: n}}
	}
	basic := schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
	all := schedulingv1beta1.PodGroupTemplate{
		Name: "t", SchedulingPolicy: gang(2), PriorityClassName: "high",
		SchedulingConstraints: &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}}},
		DisruptionMode:        &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}},
		ResourceClaims: []schedulingv1beta1.PodGroupResourceClaim{
			{Name: "a", ResourceClaimName: new("one")}, {Name: "b", ResourceClaimTemplateName: new("two")},
		},
	}
	for _, row := range []struct {
		sentence string
		change   func(*batchv1.JobSpec)
		count    int32
		want     func(*schedulingv1beta1.PodGroupTemplate)
	}{
		{"all of it", func(*batchv1.JobSpec) {}, 2, func(*schedulingv1beta1.PodGroupTemplate) {}},
		{"a minCount that is not the Job's own any more", func(*batchv1.JobSpec) {}, 5, func(w *schedulingv1beta1.PodGroupTemplate) { w.SchedulingPolicy = gang(5) }},
		{
			"a gang without a minCount gets the one that was decided on", func(s *batchv1.JobSpec) { s.Scheduling.SchedulingPolicy.Gang.MinCount = nil }, 3,
			func(w *schedulingv1beta1.PodGroupTemplate) { w.SchedulingPolicy = gang(3) },
		},
		{
			"pods that are scheduled one by one", func(s *batchv1.JobSpec) {
				s.Scheduling.SchedulingPolicy = &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{Basic: &schedulingv1alpha3.WorkloadPodGroupBasicSchedulingPolicy{}}
			}, 0, func(w *schedulingv1beta1.PodGroupTemplate) { w.SchedulingPolicy = basic },
		},
		{
			"no policy", func(s *batchv1.JobSpec) { s.Scheduling.SchedulingPolicy = nil }, 0,
			func(w *schedulingv1beta1.PodGroupTemplate) { w.SchedulingPolicy = basic },
		},
		{
			"nothing at all", func(s *batchv1.JobSpec) { s.Scheduling, s.Template.Spec.PriorityClassName = nil, "" }, 0,
			func(w *schedulingv1beta1.PodGroupTemplate) {
				*w = schedulingv1beta1.PodGroupTemplate{Name: "t", SchedulingPolicy: basic}
			},
		},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			job, want := scheduled(), all.DeepCopy()
			row.change(&job.Spec)
			row.want(want)
			stripped, err := Jobs.Of(job)
			if err != nil {
				t.Fatal(err)
			}
			o := &NewGroupObject{Namespace: "ns", Name: "w", Owners: []metav1.OwnerReference{{Kind: "Job", UID: "u", Controller: new(true)}}}
			body, err := o.Workload(stripped, ControllerRef{"batch", "Job", "j"}, "t", row.count)
			if err != nil {
				t.Fatal(err)
			}
			got := &schedulingv1beta1.Workload{}
			if err := got.Unmarshal(body); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&schedulingv1beta1.Workload{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "w", OwnerReferences: o.Owners},
				Spec: schedulingv1beta1.WorkloadSpec{
					ControllerRef:     &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "j"},
					PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{*want},
				},
			}, got); diff != "" {
				t.Errorf("Workload (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAWorkloadKeepsFieldsOfALaterVersion: those in spec.scheduling, at each depth, are in the Workload, and in the
// PodGroup of its template.
func TestAWorkloadKeepsFieldsOfALaterVersion(t *testing.T) {
	scheduling := func(below ...protowire.Number) []protowire.Number {
		return append([]protowire.Number{specScheduling}, below...)
	}
	for name, path := range map[string][]protowire.Number{
		"policy": scheduling(1), "gang": scheduling(1, policyGang), "constraints": scheduling(2), "topology": scheduling(2, 1),
		"disruption": scheduling(3), "claims": scheduling(4),
	} {
		t.Run(name, func(t *testing.T) {
			stripped, err := Jobs.Of(scheduled())
			if err != nil {
				t.Fatal(err)
			}
			stripped.Spec = onlyBelow(t, stripped.Spec, path)
			o := &NewGroupObject{Namespace: "ns", Name: "w"}
			body, err := o.Workload(stripped, ControllerRef{"batch", "Job", "j"}, "t", 2)
			if err != nil {
				t.Fatal(err)
			}
			w, err := ReadWorkload(Wrap(beta, "Workload", body))
			if err != nil || len(w.Templates) != 1 || w.Templates[0].MinCount != 2 {
				t.Fatalf("%+v, %v", w, err)
			}
			group, err := o.PodGroup("w", &w.Templates[0])
			if err != nil {
				t.Fatal(err)
			}
			for object, b := range map[string][]byte{"Workload": body, "PodGroup": group} {
				if !bytes.Contains(b, []byte("of a later version")) {
					t.Errorf("the %s has lost it", object)
				}
			}
		})
	}
}

// onlyBelow is a message with unknown fields in the messages at that path of field numbers, and nowhere else.
func onlyBelow(t *testing.T, b []byte, path []protowire.Number) []byte {
	t.Helper()
	if len(path) == 0 {
		return unknownField(bytes.Clone(b))
	}
	var err error
	out := changed(b, &err, func(to []byte, f *fields) []byte {
		if f.number != path[0] {
			return nil
		}
		return appendBytes(to, f.number, onlyBelow(t, f.bytes, path[1:]))
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDelegation: the owner that controls the Job and the annotation together delegate its PodGroup, and neither alone
// (J-240).
func TestDelegation(t *testing.T) {
	owner := metav1.OwnerReference{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", UID: "s", Controller: new(true)}
	beside := owner
	beside.Controller = nil
	for _, row := range []struct {
		sentence string
		owners   []metav1.OwnerReference
		notes    map[string]string
		template string
		is       bool
	}{
		{"both", []metav1.OwnerReference{owner}, map[string]string{GroupTemplateAnnotation: "workers"}, "workers", true},
		{"an empty name is the first template", []metav1.OwnerReference{owner}, map[string]string{GroupTemplateAnnotation: ""}, "", true},
		{"the owner alone", []metav1.OwnerReference{owner}, map[string]string{"other": "workers"}, "", false},
		{"the annotation alone", nil, map[string]string{GroupTemplateAnnotation: "workers"}, "", false},
		{"an owner that does not control it", []metav1.OwnerReference{beside}, map[string]string{GroupTemplateAnnotation: "workers"}, "", false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			stripped, err := Jobs.Of(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", OwnerReferences: row.owners, Annotations: row.notes}})
			if err != nil {
				t.Fatal(err)
			}
			by, template, err := stripped.Delegation()
			if err != nil || (by != nil) != row.is || template != row.template {
				t.Fatalf("delegated by %v to %q, %v", by, template, err)
			}
			if row.is && by.UID != owner.UID {
				t.Errorf("delegated by %s", by.UID)
			}
		})
	}
}

// FuzzWorkload: bytes that are no Workload give an error or a Workload, and nothing worse.
func FuzzWorkload(f *testing.F) {
	whole := &schedulingv1beta1.Workload{}
	filler(1).Fill(whole)
	f.Add(encoded(f, whole))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := ReadWorkload(Wrap(beta, "Workload", b))
		if err != nil {
			return
		}
		for i := range w.Templates {
			if _, err := (&NewGroupObject{Namespace: "ns", Name: "g"}).PodGroup(w.Name, &w.Templates[i]); err != nil {
				t.Errorf("a template that was read makes no PodGroup: %v", err)
			}
		}
		_, _ = ReadPodGroup(Wrap(beta, "PodGroup", b))
	})
}

package executor

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/wholeapi"
	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
)

func newGangWorld(t *testing.T) *world {
	w := newWorld(t, func(c *Config) { c.Groups = c.API.(wholeapi.API).Server.(GroupAPI) })
	return w
}

// TestGroupOfAJob: the Workload and the PodGroup are as the contract says (J-243, J-244, J-246), and a search finds
// them again.
func TestGroupOfAJob(t *testing.T) {
	w := newGangWorld(t)
	w.wants(w.do(w.task(&events.CreateWorkload{MinCount: 3})), events.Done, 0, true)
	found := w.search()
	workload, err := w.other.GetWorkload(t.Context(), "default", found.Workload)
	if err != nil {
		t.Fatal(err)
	}
	if found.Workloads != 1 || !found.WorkloadUsable || found.PodGroups != 0 {
		t.Errorf("found %+v, want the Workload that was made", found)
	}
	want := v1alpha2.WorkloadSpec{
		ControllerRef: &v1alpha2.ControllerRef{APIGroup: "batch", Kind: "Job", Name: "demo"},
		PodGroupTemplates: []v1alpha2.PodGroupTemplate{{
			Name:             "demo-pgt-0",
			SchedulingPolicy: v1alpha2.Policy{Gang: &v1alpha2.GangPolicy{MinCount: 3}},
		}},
	}
	if diff := cmp.Diff(want, workload.Spec); diff != "" {
		t.Errorf("Workload (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(workload.Name, "demo-") || !metav1.IsControlledBy(workload, w.job) {
		t.Errorf("Workload %s is owned by %v", workload.Name, workload.OwnerReferences)
	}

	create := w.task(&events.CreatePodGroup{})
	create.Workload = workload.Name
	r := w.do(create)
	w.wants(r, events.Done, 0, true)
	if found = w.search(); found.PodGroups != 1 || !found.PodGroupUsable || found.PodGroup != r.Evidence.Name {
		t.Errorf("found %+v, want the PodGroup that was made, %s", found, r.Evidence.Name)
	}
	groups, err := w.other.ListPodGroups(t.Context(), "default")
	if err != nil || len(groups) != 1 {
		t.Fatalf("%d PodGroups, %v", len(groups), err)
	}
	g := &groups[0]
	owners := g.OwnerReferences
	if len(owners) != 2 || !metav1.IsControlledBy(g, w.job) || owners[1].UID != workload.UID || owners[1].Controller != nil || owners[1].BlockOwnerDeletion != nil {
		t.Errorf("owners of the PodGroup: %+v, want the Job as controller, and the Workload beside it", owners)
	}
	if diff := cmp.Diff(workload.Spec.PodGroupTemplates[0].SchedulingPolicy, g.Spec.SchedulingPolicy); diff != "" {
		t.Errorf("policy of the PodGroup, after the template (-want +got):\n%s", diff)
	}

	pod := made(w.T, wire(w.job), events.ManagedBy, g.Name, &events.CreatePod{Ordinal: 1, Index: 0, InGroup: true})
	if pod.Spec.SchedulingGroup == nil || *pod.Spec.SchedulingGroup.PodGroupName != g.Name || len(pod.OwnerReferences) != 1 {
		t.Errorf("pod %+v: want one that names the PodGroup and has only the Job as owner", pod)
	}
}

func (w *world) search() *events.GroupSeen {
	w.Helper()
	r := w.do(w.task(&events.FindGroup{}))
	w.wants(r, events.Done, 0, true)
	if len(r.Observations) != 1 {
		w.Fatalf("%d observations of a search", len(r.Observations))
	}
	return r.Observations[0].Facts.(*events.GroupSeen)
}

// TestGroupsThatAreNotTheJobs covers J-242: a Workload that differs from our own is not used.
func TestGroupsThatAreNotTheJobs(t *testing.T) {
	rows := []struct {
		sentence string
		change   func(*v1alpha2.Workload)
		found    int32
	}{
		{"another Job's", func(l *v1alpha2.Workload) { l.Spec.ControllerRef.Name = "other" }, 0},
		{"of another kind of object with the Job's name", func(l *v1alpha2.Workload) { l.Spec.ControllerRef.Kind = "CronJob" }, 0},
		{"of nobody", func(l *v1alpha2.Workload) { l.Spec.ControllerRef = nil }, 0},
		{"the Job's, made by a user", func(l *v1alpha2.Workload) { l.OwnerReferences = nil }, 1},
		{"of a Job of that name before this one", func(l *v1alpha2.Workload) { l.OwnerReferences[0].UID = "older" }, 1},
		{"with two templates", func(l *v1alpha2.Workload) {
			l.Spec.PodGroupTemplates = append(l.Spec.PodGroupTemplates, v1alpha2.PodGroupTemplate{Name: "second"})
		}, 1},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			w := newGangWorld(t)
			ref := controllerRef(w.ref())
			l := &v1alpha2.Workload{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "w", OwnerReferences: []metav1.OwnerReference{ownerRef(w.ref())}},
				Spec: v1alpha2.WorkloadSpec{
					ControllerRef: &ref, PodGroupTemplates: []v1alpha2.PodGroupTemplate{{Name: "first"}},
				},
			}
			row.change(l)
			if _, err := w.other.CreateWorkload(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if found := w.search(); found.Workloads != row.found || found.WorkloadUsable {
				t.Errorf("found %+v, want %d that cannot be used", found, row.found)
			}
		})
	}
}

func TestSearchForAGroupThatFails(t *testing.T) {
	w := newGangWorld(t)
	w.client.FailNext(apiserver.Fault{Kind: apiserver.ServerError})
	w.wants(w.do(w.task(&events.FindGroup{})), events.OutcomeUnknown, 0, true)
}

// TestGroupNames: names are deterministic and legal whatever the Job's name is, and no two Jobs share one (J-243,
// J-244).
func TestGroupNames(t *testing.T) {
	for _, name := range []string{"a", "demo", strings.Repeat("x", 63), "with.dots." + strings.Repeat("y", 200), strings.Repeat("z", 253)} {
		job := events.JobRef{Namespace: "default", Name: name, UID: types.UID("uid-" + name)}
		workload, template := workloadName(job), groupTemplateName(job)
		group := podGroupName(workload, template, job)
		for _, n := range []string{workload, group} {
			if why := validation.IsDNS1123Subdomain(n); len(why) > 0 {
				t.Errorf("name %q of Job %q: %v", n, name, why)
			}
		}
		if why := validation.IsDNS1123Label(template); len(why) > 0 || !strings.HasSuffix(template, "-pgt-0") {
			t.Errorf("template name %q of Job %q: %v", template, name, why)
		}
		if group != podGroupName(workload, template, job) || !strings.Contains(group, template[:min(len(template), 20)]) {
			t.Errorf("name %q of a PodGroup of %q and %q", group, workload, template)
		}
		other := job
		other.UID = "another"
		if workloadName(other) == workload || podGroupName(workload, template, other) == group {
			t.Errorf("Job %q and one that is called the same share a name", name)
		}
	}
}

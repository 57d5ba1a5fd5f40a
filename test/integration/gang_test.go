package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/wire/v1alpha2"
	"github.com/jobledger/jobledger/reconciler/executor/kubeapi"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestGang: with --gang-scheduling, on a server that has it, an Indexed Job whose pods all run at once gets a Workload and a
// PodGroup before its first pod, its pods name the PodGroup, a restart keeps them, and the Job ends; others are run as ever
// (J-239 to J-248).
func TestGang(t *testing.T) {
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{
		FeatureGates:  map[string]bool{"GenericWorkload": true, "GangScheduling": true, "WorkloadWithJob": true},
		RuntimeConfig: map[string]bool{"scheduling.k8s.io/v1alpha2": true},
	})
	w := newWorldOn(t, cp)
	if err := controller.GrantGangs(t.Context(), cp, w.namespace, w.namespace); err != nil {
		t.Fatal(err)
	}
	c := w.newController("", "--gang-scheduling")
	w.start(c)

	w.create(newJob("gang", indexed, completions(3), parallelism(3), runFor("3s")))
	w.create(newJob("suspended", indexed, completions(2), parallelism(2), suspended))
	w.create(newJob("fewer-at-once", indexed, completions(3), parallelism(2)))
	w.eventually("the gang's pods are there", func() (bool, error) { return len(w.pods("gang")) == 3, nil })
	group := w.group("gang")
	for _, p := range w.pods("gang") {
		if g := p.Spec.SchedulingGroup; g == nil || g.PodGroupName == nil || *g.PodGroupName != group.Name {
			t.Errorf("pod %s is in group %v, want %s", p.Name, g, group.Name)
		}
		if len(p.OwnerReferences) != 1 {
			t.Errorf("pod %s has owners %v, want only the Job (J-246)", p.Name, p.OwnerReferences)
		}
	}
	w.kill(c)
	w.start(c)
	w.ends("gang", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3, completed: "0-2"})
	w.ends("fewer-at-once", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3, completed: "0-2"})
	if again := w.group("gang"); again.UID != group.UID {
		t.Errorf("the PodGroup is %s, and was %s before the restart (J-247)", again.UID, group.UID)
	}

	before := w.group("suspended") // exists before any pod (J-241)
	if pods := w.pods("suspended"); len(pods) != 0 {
		t.Errorf("a suspended Job has %d pods", len(pods))
	}
	w.patch("suspended", `{"suspend":false}`)
	w.ends("suspended", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 2, completed: "0,1"})
	if after := w.group("suspended"); after.UID != before.UID {
		t.Errorf("the PodGroup is %s, and was %s before the Job was resumed", after.UID, before.UID)
	}

	writes := w.written(func(x controlplane.Write) bool { return true })
	if writes["create workloads"] != 2 || writes["create podgroups"] != 2 {
		t.Errorf("we wrote %v, want two Workloads and two PodGroups", writes)
	}
	events, err := w.client.CoreV1().Events(w.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=WorkloadCreated"})
	if err != nil || len(events.Items) != 2 || !strings.HasPrefix(events.Items[0].Message, "Created Workload ") {
		t.Errorf("Events %v, %v: want one for each Workload", events.Items, err)
	}
}

func suspended(j *batchv1.Job) { j.Spec.Suspend = new(true) }

// group waits for the Job's PodGroup, and checks its Workload.
func (w *world) group(job string) *v1alpha2.PodGroup {
	w.t.Helper()
	j := w.job(job)
	var group *v1alpha2.PodGroup
	api := w.groups()
	w.eventually("Job "+job+" has its PodGroup", func() (bool, error) {
		list, err := api.ListPodGroups(w.t.Context(), w.namespace)
		if err != nil {
			return false, err
		}
		for i := range list {
			if metav1.IsControlledBy(&list[i], j) {
				group = &list[i]
			}
		}
		return group != nil, nil
	})
	name := group.Spec.PodGroupTemplateRef.Workload.WorkloadName
	workload, err := api.GetWorkload(w.t.Context(), w.namespace, name)
	if err != nil {
		w.t.Fatal(err)
	}
	gang := workload.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang
	if !metav1.IsControlledBy(workload, j) || gang == nil || gang.MinCount != *j.Spec.Parallelism {
		w.t.Errorf("Workload %s of %s: %+v", name, job, workload.Spec)
	}
	return group
}

// groups is the way to Workloads and PodGroups.
func (w *world) groups() *kubeapi.Client {
	w.t.Helper()
	api, err := kubeapi.New(w.client)
	if err != nil {
		w.t.Fatal(err)
	}
	return api
}

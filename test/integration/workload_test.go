package integration

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestGangs: gangs of Kubernetes 1.37 on a server with its gates and its scheduler, beside the built-in controller
// (J-239 to J-247).
func TestGangs(t *testing.T) {
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{BuiltinBatch: true}.WithGangs())
	for name, play := range map[string]func(*world){
		"objects are those of the built-in controller": objectsAlike,
		"too few pods are left for a gang":             tooFewLeft,
		"what an owner delegates":                      delegations,
		"Jobs of a CronJob get none":                   cronJobsWithout,
		"the name is taken":                            takenName,
		"a Workload that a user made for the Job":      foreignWorkload,
		"a PodGroup is deleted between two pods":       deletedPodGroup,
		"the right is missing":                         withoutRight,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newWorldOn(t, cp))
		})
	}
}

// runsGangs runs a controller with --gang-scheduling and the rights for it.
func (w *world) runsGangs() *controller.Controller {
	w.t.Helper()
	if err := controller.GrantGangs(w.t.Context(), w.cp, w.namespace, w.namespace); err != nil {
		w.t.Fatal(err)
	}
	return w.run("delegated", "--gang-scheduling")
}

// both creates one Job for our controller and one for the built-in, with different names.
func (w *world) both(kind string, options ...option) {
	w.t.Helper()
	w.create(newJob("ours-"+kind, append(options, managedBy(new(events.ManagedBy)))...))
	w.create(newJob("them-"+kind, append(options, managedBy(nil))...))
}

// each returns the names of both.
func each(kind string) []string { return []string{"ours-" + kind, "them-" + kind} }

// gang makes a Job ask for a gang.
func gang(minCount *int32) option {
	return func(j *batchv1.Job) {
		j.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{
			SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
				Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: minCount},
			},
			DisruptionMode: &schedulingv1alpha3.WorkloadPodGroupDisruptionMode{All: &schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode{}},
		}
	}
}

// objectsAlike: equal Jobs of the two controllers get the same Workloads and PodGroups, field by field, and names by
// the same rule. Their pods name the PodGroup, and are scheduled. A change of parallelism while pods run, up or down,
// changes both objects.
func objectsAlike(w *world) {
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}, Value: 7}
	if _, err := w.client.SchedulingV1().PriorityClasses().Create(w.t.Context(), class, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.runsGangs()
	kinds := map[string][]option{
		"plain": {completions(1), runFor("1s")}, "gang": {indexed, parallelism(2), completions(2), gang(nil), runFor("20s")},
		"partial": {parallelism(2), completions(2), gang(new(int32(1))), runFor("1s")},
		"waits":   {parallelism(2), completions(2), gang(nil), suspended},
		"class": {parallelism(2), completions(2), gang(nil), runFor("1s"), func(j *batchv1.Job) {
			j.Spec.Template.Spec.PriorityClassName = class.Name
		}},
	}
	for kind, options := range kinds {
		w.both(kind, options...)
	}
	for kind := range kinds {
		w.alike(kind)
	}
	for _, size := range []int32{4, 3} { // up, and down
		for _, job := range each("gang") {
			w.patch(job, fmt.Sprintf(`{"parallelism":%d,"completions":%d}`, size, size))
		}
		for _, job := range each("gang") {
			w.eventually(fmt.Sprintf("%s has size %d", job, size), func() (bool, error) {
				l, g := w.group(job)
				return l != nil && g != nil && l.Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount == size &&
					g.Spec.SchedulingPolicy.Gang.MinCount == size, nil
			})
		}
	}
	for _, job := range each("waits") {
		w.patch(job, `{"suspend":false}`)
	}
	w.alike("gang")
	for _, who := range []string{"ours-", "them-"} {
		for kind := range kinds {
			want := result{
				condition: batchv1.JobComplete, reason: batchv1.JobReasonCompletionsReached, succeeded: *w.job(who + kind).Spec.Completions,
			}
			if kind == "gang" {
				want.completed = "0-2"
			}
			w.ends(who+kind, want)
		}
	}
}

// group returns the Workload and the PodGroup of a Job; nil: none.
func (w *world) group(job string) (l *schedulingv1beta1.Workload, g *schedulingv1beta1.PodGroup) {
	w.t.Helper()
	api, j := w.client.SchedulingV1beta1(), w.job(job)
	workloads, err := api.Workloads(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	groups, err := api.PodGroups(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range workloads.Items {
		if metav1.IsControlledBy(&workloads.Items[i], j) {
			l = &workloads.Items[i]
		}
	}
	for i := range groups.Items {
		if metav1.IsControlledBy(&groups.Items[i], j) {
			g = &groups.Items[i]
		}
	}
	return l, g
}

// alike waits for the objects of both Jobs, and compares them.
func (w *world) alike(kind string) {
	w.t.Helper()
	var workloads [2]*schedulingv1beta1.Workload
	var groups [2]*schedulingv1beta1.PodGroup
	for i, who := range []string{"ours-", "them-"} {
		w.eventually(who+kind+" has a Workload and a PodGroup", func() (bool, error) {
			workloads[i], groups[i] = w.group(who + kind)
			return workloads[i] != nil && groups[i] != nil, nil
		})
		job := w.job(who + kind)
		if want := job.Name + "-" + fnvText("(types.UID)"+string(job.UID)); workloads[i].Name != want {
			w.t.Errorf("the Workload of %s is %s, want %s", job.Name, workloads[i].Name, want)
		}
		template := job.Name + "-pgt-0"
		if want := workloads[i].Name + "-" + template + "-" + fnvText(workloads[i].Name+template); groups[i].Name != want {
			w.t.Errorf("the PodGroup of %s is %s, want %s", job.Name, groups[i].Name, want)
		}
		for _, pod := range w.pods(job.Name) {
			if s := pod.Spec.SchedulingGroup; s == nil || s.PodGroupName == nil || *s.PodGroupName != groups[i].Name {
				w.t.Errorf("pod %s is in group %v, want %s", pod.Name, s, groups[i].Name)
			}
		}
		named(&workloads[i].ObjectMeta)
		named(&groups[i].ObjectMeta)
		workloads[i].Spec.ControllerRef.Name = ""
		workloads[i].Spec.PodGroupTemplates[0].Name = ""
		groups[i].Spec.WorkloadRef = nil
		groups[i].Status = schedulingv1beta1.PodGroupStatus{}
	}
	if diff := cmp.Diff(workloads[1], workloads[0]); diff != "" {
		w.t.Errorf("Workloads of %s (-built-in +ours):\n%s", kind, diff)
	}
	if diff := cmp.Diff(groups[1], groups[0]); diff != "" {
		w.t.Errorf("PodGroups of %s (-built-in +ours):\n%s", kind, diff)
	}
}

// named removes from metadata the fields that differ between any two objects, and who wrote it.
func named(m *metav1.ObjectMeta) {
	m.Name, m.UID, m.ResourceVersion, m.Generation, m.CreationTimestamp, m.ManagedFields = "", "", "", 0, metav1.Time{}, nil
	delete(m.Annotations, events.TermAnnotation)
	if len(m.Annotations) == 0 {
		m.Annotations = nil
	}
	for i := range m.OwnerReferences {
		m.OwnerReferences[i].Name, m.OwnerReferences[i].UID = "", ""
	}
}

func fnvText(text string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

package crash

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// gangSize is the number of pods of the gang, which start together, once the Job has been resized.
const gangSize = 3

// gangRow is a row about the group of a Job. The points are those of one Job, which asks for a gang: its Workload is
// made, read, its PodGroup is made, and then its pods.
type gangRow struct {
	sentence string
	points   []string
	resized  bool // the Job is suspended, and resized before the first point; see resizedGang
}

func gangRows() (rows []gangRow) {
	for _, verb := range []string{"create-workload:1", "get-workload:1", "create-pod-group:1", "create-pod:1", "create-pod:2", "create-pod:3"} {
		for _, point := range []string{"call.before.", "call.after."} {
			rows = append(rows, gangRow{sentence: "at " + point + verb, points: []string{point + verb}})
		}
	}
	for _, verb := range []string{"patch-workload:1", "patch-pod-group:1"} {
		for _, point := range []string{"call.before.", "call.after."} {
			rows = append(rows, gangRow{sentence: "resized, at " + point + verb, points: []string{point + verb}, resized: true})
		}
	}
	return append(rows,
		gangRow{sentence: "the Workload is made, and then its PodGroup", points: []string{"call.after.create-workload:1", "call.after.create-pod-group:1"}},
		gangRow{sentence: "the PodGroup is made, and then the first pod, and one more", points: []string{
			"call.after.create-pod-group:1", "call.after.create-pod:1", "call.after.create-pod:1"}},
	)
}

// TestCrashesOfAGang kills the controller at each point of a gang, on a control plane with the scheduler of gangs. There
// is never a second Workload or PodGroup, no pod is ever outside the gang or older than it, and the Job completes
// (J-242, J-245, J-247). Without JOBLEDGER_LONG, every second row runs in CI (after each call), and every eighth also
// with the log lost; make test plays a third of these.
func TestCrashesOfAGang(t *testing.T) {
	for log, each := range map[string]int{"the log is kept": 2, "the log is lost": 8} {
		t.Run(log, func(t *testing.T) {
			if !effort.IsWhole() {
				each *= 3
			}
			for i, r := range gangRows() {
				if !long && i%each != 1 {
					continue
				}
				t.Run(r.sentence, func(t *testing.T) {
					t.Parallel()
					x := newTrialOf(t, "", "--gang-scheduling")
					x.must(controller.GrantGangs(x.ctx, shared.ControlPlane, x.namespace, x.namespace))
					x.unended = gangUnended
					create := x.createGang
					if r.resized {
						create = x.resizedGang
					}
					for _, point := range r.points {
						x.crash(crash{point: point}, create)
						create = func() {}
						if log == "the log is lost" {
							x.loseLog()
						}
					}
					if r.resized {
						x.patchGang(`{"spec":{"suspend":false}}`)
					}
					x.recover()
					x.oneGang()
				})
			}
		})
	}
}

// gangJob is an Indexed Job that asks for a gang of all of its pods.
func gangJob(size int32) *batchv1.Job {
	job := newJob("gang", map[string]string{controlplane.AnnotationRunFor: "300ms"})
	job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	job.Spec.Completions, job.Spec.Parallelism = &size, new(size)
	job.Spec.Scheduling = &batchv1.JobSchedulingConfiguration{SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{
		Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{},
	}}
	return job
}

func (x *trial) createGang() {
	x.t.Helper()
	_, err := shared.Admin.BatchV1().Jobs(x.namespace).Create(x.ctx, gangJob(gangSize), metav1.CreateOptions{})
	x.must(err)
}

// resizedGang makes a suspended Job of two pods, and changes its size once it has its PodGroup.
func (x *trial) resizedGang() {
	x.t.Helper()
	job := gangJob(gangSize - 1)
	job.Spec.Suspend = new(true)
	_, err := shared.Admin.BatchV1().Jobs(x.namespace).Create(x.ctx, job, metav1.CreateOptions{})
	x.must(err)
	x.must(x.await(func() string {
		if _, groups := x.groups(); len(groups) == 0 {
			return "there is no PodGroup"
		}
		return ""
	}))
	x.patchGang(fmt.Sprintf(`{"spec":{"parallelism":%d,"completions":%d}}`, gangSize, gangSize))
}

func (x *trial) patchGang(patch string) {
	x.t.Helper()
	_, err := shared.Admin.BatchV1().Jobs(x.namespace).Patch(x.ctx, "gang", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	x.must(err)
}

// gangUnended returns what is missing until the Job has completed and its pods have no finalizer.
func gangUnended(n history.Now) string {
	job := n.Jobs["gang"]
	if job == nil || !ledger.True(job, batchv1.JobComplete) || job.Status.Succeeded != gangSize {
		return "job/gang is not complete"
	}
	for _, pod := range n.Pods {
		if ledger.Tracked(pod) {
			return "pod/" + pod.Name + " carries our finalizer"
		}
	}
	return ""
}

// groups returns what exists in the namespace.
func (x *trial) groups() ([]schedulingv1beta1.Workload, []schedulingv1beta1.PodGroup) {
	x.t.Helper()
	api := shared.Admin.SchedulingV1beta1()
	workloads, err := api.Workloads(x.namespace).List(x.ctx, metav1.ListOptions{})
	x.must(err)
	groups, err := api.PodGroups(x.namespace).List(x.ctx, metav1.ListOptions{})
	x.must(err)
	return workloads.Items, groups.Items
}

// oneGang checks what was ever made: by the audit log one Workload, then one PodGroup, then three pods; in every version
// of every pod the name of the PodGroup; and in both objects the size of the Job.
func (x *trial) oneGang() {
	x.t.Helper()
	workloads, groups := x.groups()
	if len(workloads) != 1 || len(groups) != 1 {
		x.t.Fatalf("there are %d Workloads and %d PodGroups, want one of each", len(workloads), len(groups))
	}
	job, l, g := x.history.Now().Jobs["gang"], &workloads[0], &groups[0]
	if !metav1.IsControlledBy(l, job) || !metav1.IsControlledBy(g, job) || g.Spec.WorkloadRef.WorkloadName != l.Name {
		x.t.Errorf("Workload %s and PodGroup %+v are not those of the Job", l.Name, g)
	}
	for _, policy := range []schedulingv1beta1.PodGroupSchedulingPolicy{l.Spec.PodGroupTemplates[0].SchedulingPolicy, g.Spec.SchedulingPolicy} {
		if policy.Gang == nil || policy.Gang.MinCount != gangSize {
			x.t.Errorf("the policy is %+v, want a gang of %d", policy, gangSize)
		}
	}
	pods, there := map[types.UID]bool{}, map[string]bool{"workloads/" + l.Name: true, "podgroups/" + g.Name: true}
	for _, c := range x.history.Changes() {
		if c.Pod == nil {
			continue
		}
		pods[c.Pod.UID], there["pods/"+c.Pod.Name] = true, true
		if s := c.Pod.Spec.SchedulingGroup; s == nil || s.PodGroupName == nil || *s.PodGroupName != g.Name {
			x.t.Errorf("version %d of pod %s is in group %v, want %s", c.Version, c.Pod.Name, s, g.Name)
		}
	}
	if len(pods) != gangSize {
		x.t.Errorf("%d pods were made, want %d", len(pods), gangSize)
	}
	made := x.madeInOrder(there)
	if want := slices.Concat([]string{"workloads", "podgroups"}, slices.Repeat([]string{"pods"}, gangSize)); !slices.Equal(made, want) {
		x.t.Errorf("the controller made %v, want %v", made, want)
	}
}

// madeInOrder returns the resources of the group's objects and pods that the controller created, in order. A create
// that the kill has cut off counts if its object is there, and no other create of that name was answered.
func (x *trial) madeInOrder(there map[string]bool) (made []string) {
	x.t.Helper()
	all, err := shared.Writes()
	x.must(err)
	asked, answered := map[string]int{}, map[string]bool{}
	var creates []controlplane.Write
	for _, w := range all {
		if w.User != x.namespace || !slices.Contains([]string{"workloads", "podgroups", "pods"}, w.Resource) {
			continue
		}
		asked[fmt.Sprintf("%s %s %d", w.Verb, w.Resource, w.Code)]++
		if w.Verb == "create" {
			creates = append(creates, w)
			answered[w.Resource+"/"+w.Name] = answered[w.Resource+"/"+w.Name] || w.Code == http.StatusCreated
		}
	}
	slices.SortStableFunc(creates, func(a, b controlplane.Write) int { return a.At.Compare(b.At) })
	for _, w := range creates {
		name := w.Resource + "/" + w.Name
		if w.Code == http.StatusCreated || w.Unheard() && there[name] && !answered[name] {
			made, answered[name] = append(made, w.Resource), true
		}
	}
	var text []string
	for _, k := range slices.Sorted(maps.Keys(asked)) {
		text = append(text, fmt.Sprintf("%s: %d", k, asked[k]))
	}
	x.t.Logf("requests: %s", strings.Join(text, ", "))
	return made
}

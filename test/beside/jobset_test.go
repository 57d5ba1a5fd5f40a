package beside

import (
	"encoding/json"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/controlplane"
)

var jobSetScenarios = []scenario{
	{"two replicated Jobs complete", (*world).allSucceed},
	{"one that succeeds is enough", (*world).anySucceeds},
	{"recreated after a failure", (*world).recreated},
	{"suspended, then resumed on other nodes", (*world).resumedElsewhere},
	{"TTL", (*world).jobSetExpires},
}

var jobSets = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}

// replicated is one of the replicatedJobs of a JobSet: the numbers of Jobs and of pods in each. The Jobs are named
// JOBSET-NAME-0 and so on.
type replicated struct {
	name           string
	replicas, pods int32
}

// group is a driver of one pod, and two workers of two pods each.
var group = []replicated{{"driver", 1, 1}, {"worker", 2, 2}}

// pods of the group, by Job.
var groupPods = map[string]int{"group-driver-0": 1, "group-worker-0": 2, "group-worker-1": 2}

// newJobSet returns the JobSet group. Its pods run until the test ends them.
func (w *world) newJobSet(spec map[string]any) *unstructured.Unstructured {
	w.t.Helper()
	var all []any
	for _, r := range group {
		template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w.newJob("", r.pods, "100m").Spec)
		w.must(err)
		all = append(all, map[string]any{"name": r.name, "replicas": int64(r.replicas), "template": map[string]any{"spec": template}})
	}
	whole := map[string]any{"replicatedJobs": all}
	maps.Copy(whole, spec)
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": map[string]any{"name": "group"}, "spec": whole,
	}}
}

func (w *world) createJobSet(o *unstructured.Unstructured) *unstructured.Unstructured {
	w.t.Helper()
	made, err := w.objects.Resource(jobSets).Namespace(w.namespace).Create(w.t.Context(), o, metav1.CreateOptions{FieldValidation: "Strict"})
	w.must(err)
	return made
}

// jobSet returns the JobSet group; nil: there is none.
func (w *world) jobSet() *unstructured.Unstructured {
	w.t.Helper()
	o, err := w.objects.Resource(jobSets).Namespace(w.namespace).Get(w.t.Context(), "group", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.must(err)
	return o
}

func (w *world) awaitJobSet(kind string) {
	w.t.Helper()
	w.eventually("the JobSet is "+kind, func() (string, error) {
		is, said := conditionOf(w.jobSet(), kind)
		if is {
			return "", nil
		}
		return said, nil
	})
}

// patchJobSet changes the spec by a merge patch.
func (w *world) patchJobSet(spec map[string]any) {
	w.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": spec})
	w.must(err)
	_, err = w.objects.Resource(jobSets).Namespace(w.namespace).Patch(w.t.Context(), "group", types.MergePatchType, patch, metav1.PatchOptions{})
	w.must(err)
}

// runGroup waits until all pods of the group run.
func (w *world) runGroup(pool string) {
	w.t.Helper()
	for job, pods := range groupPods {
		w.run(job, pods, pool)
		if by := w.job(job).Spec.ManagedBy; (by == nil) != (w.mode.managedBy == nil) || by != nil && *by != *w.mode.managedBy {
			w.t.Errorf("Job %s is managed by %v", job, by)
		}
	}
}

// completeGroup ends all pods of the group as succeeded.
func (w *world) completeGroup() {
	w.t.Helper()
	for job := range groupPods {
		w.end(job, controlplane.OutcomeSucceed)
	}
	for job, pods := range groupPods {
		w.complete(job, int32(pods))
	}
	w.awaitJobSet("Completed")
}

// counted waits until the status of the JobSet has this count for a replicated Job.
func (w *world) counted(name, what string, want int64) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("the JobSet counts %d %s of %s", want, what, name), func() (string, error) {
		list, _, _ := unstructured.NestedSlice(w.jobSet().Object, "status", "replicatedJobsStatus")
		for _, s := range list {
			if status := s.(map[string]any); status["name"] == name && status[what] == want {
				return "", nil
			}
		}
		return fmt.Sprint(list), nil
	})
}

// allSucceed: from the statuses that Jobledger writes, a JobSet learns that its Jobs are ready, and later that they
// have succeeded.
func (w *world) allSucceed() {
	w.createJobSet(w.newJobSet(nil))
	w.runGroup("")
	w.counted("driver", "ready", 1)
	w.counted("worker", "ready", 2)
	w.completeGroup()
	w.counted("driver", "succeeded", 1)
	w.counted("worker", "succeeded", 2)
}

// anySucceeds: the driver decides. When it has succeeded, JobSet deletes the running Jobs of the workers.
func (w *world) anySucceeds() {
	w.createJobSet(w.newJobSet(map[string]any{
		"successPolicy": map[string]any{"operator": "Any", "targetReplicatedJobs": []any{"driver"}},
	}))
	w.runGroup("")
	w.end("group-driver-0", controlplane.OutcomeSucceed)
	w.complete("group-driver-0", 1)
	w.awaitJobSet("Completed")
	for _, job := range []string{"group-worker-0", "group-worker-1"} {
		w.eventually("the Jobs of the workers are gone", func() (string, error) {
			if w.job(job) != nil || len(w.pods(job)) > 0 {
				return "Job " + job + " or a pod of it is there", nil
			}
			return "", nil
		})
		w.logged(job, "Deleted", 0)
	}
}

// recreated: a pod of a worker fails, so its Job fails, and JobSet creates all Jobs again, under the same names.
func (w *world) recreated() {
	w.createJobSet(w.newJobSet(map[string]any{"failurePolicy": map[string]any{"maxRestarts": int64(1)}}))
	w.runGroup("")
	first := map[string]types.UID{}
	for job := range groupPods {
		first[job] = w.job(job).UID
	}
	w.end("group-worker-1", controlplane.OutcomeFail)
	w.eventually("all Jobs are made again", func() (string, error) {
		for job := range groupPods {
			if now := w.job(job); now == nil || now.UID == first[job] {
				return "Job " + job + " is not", nil
			}
		}
		return "", nil
	})
	w.runGroup("")
	if n, _, _ := unstructured.NestedInt64(w.jobSet().Object, "status", "restarts"); n != 1 {
		w.t.Errorf("the JobSet was restarted %d times, want once", n)
	}
	w.completeGroup()
	for job := range groupPods {
		w.twice(job, first[job])
	}
}

// twice checks that the log has two Jobs of a name, in the right order.
func (w *world) twice(name string, first types.UID) {
	w.t.Helper()
	records, err := w.ours.Records(w.t.Context(), "--kind", "JobAdded")
	w.must(err)
	var uids []string
	for _, r := range records {
		if r.Name == name {
			uids = append(uids, r.Stream)
		}
	}
	if now := w.job(name).UID; len(uids) != 2 || uids[0] != "job/"+string(first) || uids[1] != "job/"+string(now) {
		w.t.Errorf("the log has %q of the name %s, want %s and %s", uids, name, first, now)
	}
}

// resumedElsewhere: a running JobSet is suspended, and resumed with another node selector. JobSet removes the start
// time from the statuses of its Jobs, so that it may change their templates.
func (w *world) resumedElsewhere() {
	o := w.newJobSet(nil)
	selectPool(w, o, "spot")
	w.createJobSet(o)
	w.runGroup("spot")
	w.patchJobSet(map[string]any{"suspend": true})
	for job := range groupPods {
		w.suspended(job)
		w.explains(job, "SUSPENDED for", "by jobset")
	}
	w.awaitJobSet("Suspended")

	now := w.jobSet()
	selectPool(w, now, "reserved")
	spec := now.Object["spec"].(map[string]any)
	w.patchJobSet(map[string]any{"suspend": false, "replicatedJobs": spec["replicatedJobs"]})
	w.runGroup("reserved")
	w.completeGroup()
}

// selectPool sets the node selector of all replicated Jobs.
func selectPool(w *world, o *unstructured.Unstructured, pool string) {
	w.t.Helper()
	jobs, _, err := unstructured.NestedSlice(o.Object, "spec", "replicatedJobs")
	w.must(err)
	for _, job := range jobs {
		w.must(unstructured.SetNestedField(job.(map[string]any), pool, "template", "spec", "template", "spec", "nodeSelector", "pool"))
	}
	w.must(unstructured.SetNestedSlice(o.Object, jobs, "spec", "replicatedJobs"))
}

// jobSetExpires: a JobSet deletes itself by its TTL, and with it its Jobs and their pods.
func (w *world) jobSetExpires() {
	w.createJobSet(w.newJobSet(map[string]any{"ttlSecondsAfterFinished": int64(1)}))
	w.runGroup("")
	for job := range groupPods {
		w.end(job, controlplane.OutcomeSucceed)
	}
	w.eventually("nothing of the JobSet is left", func() (string, error) {
		if w.jobSet() != nil {
			return "the JobSet is there", nil
		}
		for job := range groupPods {
			if w.job(job) != nil || len(w.pods(job)) > 0 {
				return "Job " + job + " or a pod of it is there", nil
			}
		}
		return "", nil
	})
	for job, pods := range groupPods {
		w.logged(job, "Complete", int32(pods))
		w.explains(job, "by an API client or with its JobSet group")
	}
}

// jobSetInAQueue: Kueue suspends the JobSet, and JobSet its Jobs.
func (w *world) jobSetInAQueue() {
	w.makeQueue(quota{"spot", "1"}, quota{"reserved", "1"})
	o := w.newJobSet(nil)
	o.SetLabels(map[string]string{queueLabel: queueName})
	made := w.createJobSet(o)
	w.runGroup("spot")
	w.changeQueue(map[string]any{"stopPolicy": "HoldAndDrain"})
	for job := range groupPods {
		w.suspended(job)
	}
	w.waits(made.GetUID())
	w.changeQueue(map[string]any{"stopPolicy": "None", "resourceGroups": resourceGroups([]quota{{"spot", "0"}, {"reserved", "1"}})})
	w.runGroup("reserved")
	w.completeGroup()
	w.workload(made.GetUID(), "has ended", finished)
}

// finished returns what a workload lacks to be finished.
func finished(o *unstructured.Unstructured) string {
	if is, said := conditionOf(o, "Finished"); !is {
		return said
	}
	return ""
}

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
)

const foreign = "example.com/other-controller"

// O-050, O-053, O-058: beside the built-in controller we write only to Jobs with our stored managedBy, and it writes to
// all others.
// O-057: the whole status of our Jobs is written by us: counters, times, conditions with their reasons.
//
// TestDelegatedLeavesOthersAlone: beside the built-in Job controller, --manage=delegated runs the Jobs with our
// managedBy, and writes nothing to any other Job or its pods (J-005, J-100, design §9). The built-in writes nothing to
// ours.
func TestDelegatedLeavesOthersAlone(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{BuiltinBatch: true})
	w := newWorldOn(t, cp)
	c := w.run("delegated")
	for _, name := range []string{"unset", "reserved", "unset-failing", "foreign", "ours"} {
		options := map[string][]option{
			"unset":         {managedBy(nil), completions(3), parallelism(3)},
			"reserved":      {managedBy(new(events.BuiltinManagedBy)), indexed, completions(3), parallelism(3)},
			"unset-failing": {managedBy(nil), backoffLimit(0), outcome(controlplane.OutcomeFail)},
			"foreign":       {managedBy(new(foreign))},
			"ours":          {completions(3), parallelism(3)},
		}[name]
		w.create(newJob(name, options...))
	}
	foreignPod := w.podOfAnother("foreign")

	complete := result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3}
	w.ends("ours", complete)
	w.ends("unset", complete)
	indexedComplete := complete
	indexedComplete.completed = "0-2"
	w.ends("reserved", indexedComplete)
	w.ends("unset-failing", result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 1})

	ours := func(x controlplane.Write) bool { return x.Name == "ours" || strings.HasPrefix(x.Name, "ours-") }
	if got := w.written(func(x controlplane.Write) bool { return !ours(x) }); len(got) != 0 {
		t.Errorf("we wrote to what is not ours: %v", got)
	}
	if got := w.written(ours); got["create pods"] != 3 || got["patch pods"] != 3 || got["update jobs/status"] == 0 {
		t.Errorf("we wrote %v to our own Job, which has 3 pods", got)
	}
	others, err := cp.CountWrites(func(x controlplane.Write) bool {
		return x.Namespace == w.namespace && strings.Contains(x.User, "job-controller") && ours(x)
	})
	if err != nil || len(others) != 0 {
		t.Errorf("the built-in controller wrote to our Job: %v, %v", others, err)
	}
	if s := w.job("foreign").Status; s.StartTime != nil || len(s.Conditions) != 0 {
		t.Errorf("somebody wrote the status of the foreign Job: %+v", s)
	}
	pods := w.pods("foreign")
	if len(pods) != 1 || pods[0].UID != foreignPod.UID || !tracked(pods[0]) {
		t.Errorf("somebody touched the pods of the foreign Job (J-007): %+v", pods)
	}
	records, err := c.Records(t.Context(), "--kind", "PodAdded,PodChanged")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if !strings.HasPrefix(r.Name, "ours-") && r.Name != foreignPod.Name { // that pod has our finalizer
			t.Errorf("record %d is about pod %s, which is none of ours (design §7)", r.Sequence, r.Name)
		}
	}
}

// podOfAnother makes a finished pod of a Job as another controller would, with a tracking finalizer.
func (w *world) podOfAnother(job string) *corev1.Pod {
	w.t.Helper()
	j := w.job(job)
	pod := &corev1.Pod{ObjectMeta: *j.Spec.Template.ObjectMeta.DeepCopy(), Spec: *j.Spec.Template.Spec.DeepCopy()}
	pod.Name = job + "-made-elsewhere"
	pod.Finalizers = []string{events.TrackingFinalizer} // ours, as a temptation
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))}
	created, err := w.client.CoreV1().Pods(w.namespace).Create(w.t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.eventually("the pod of the foreign Job succeeds", func() (bool, error) {
		pods := w.pods(job)
		return len(pods) == 1 && pods[0].Status.Phase == corev1.PodSucceeded, nil
	})
	return created
}

// O-058: in place of the built-in controller we also run Jobs without managedBy, and with the reserved one.
// O-061: no pod of a Job with our managedBy has the reserved finalizer.
// O-062: the finalizer follows the managedBy of the Job.
//
// TestManageAllRunsPlainJobs: without the built-in Job controller, --manage=all completes plain Jobs, with the built-in
// finalizer. Jobs with our managedBy keep our finalizer; foreign ones are left alone (design §9).
func TestManageAllRunsPlainJobs(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	w.create(newJob("before", managedBy(nil), completions(2), parallelism(2))) // it waits for a controller
	w.run("all")
	rows := []struct {
		name      string
		managedBy *string
		finalizer string
	}{
		{"unset", nil, events.BuiltinTrackingFinalizer},
		{"reserved", new(events.BuiltinManagedBy), events.BuiltinTrackingFinalizer},
		{"ours", new(events.ManagedBy), events.TrackingFinalizer},
	}
	for _, row := range rows {
		w.create(newJob(row.name, managedBy(row.managedBy), indexed, completions(3), parallelism(2), runFor("1s")))
	}
	w.create(newJob("foreign", managedBy(new(foreign))))
	for _, row := range rows {
		w.eventually(fmt.Sprintf("Job %s has a pod with finalizer %s", row.name, row.finalizer), func() (bool, error) {
			pods := w.pods(row.name)
			if len(pods) == 0 {
				return false, nil
			}
			if !slices.Equal(pods[0].Finalizers, []string{row.finalizer}) {
				return false, fmt.Errorf("pod %s has the finalizers %q", pods[0].Name, pods[0].Finalizers)
			}
			return true, nil
		})
	}
	for _, row := range rows {
		w.ends(row.name, result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3, completed: "0-2"})
	}
	w.ends("before", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 2})
	if got := w.written(func(x controlplane.Write) bool { return strings.HasPrefix(x.Name, "foreign") }); len(got) != 0 {
		t.Errorf("we wrote to the foreign Job: %v", got)
	}
}

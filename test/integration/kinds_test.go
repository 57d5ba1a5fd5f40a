package integration

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// TestEachKindOfJobToItsEnd: every kind of Job, side by side under one controller.
func TestEachKindOfJobToItsEnd(t *testing.T) {
	t.Parallel()
	const fail = controlplane.OutcomeFail
	for _, row := range []struct {
		name string
		job  []option
		want result
		pods int // how many remain
		also func(*world, *batchv1.Job)
	}{
		{
			name: "a plain Job runs one pod and is complete (J-259)",
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1},
			pods: 1, also: podsAreMadeAsTheContractSays,
		},
		{
			name: "with fixed completions never more pods run than parallelism allows (J-047)",
			job:  []option{completions(6), parallelism(2), runFor("200ms")},
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 6},
			pods: 6, also: atMostTwoAtOnce,
		},
		{
			name: "a work queue is complete when a pod succeeded and none is active (J-160)",
			job:  []option{parallelism(3), runFor("200ms")},
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 3},
			pods: 3,
		},
		{
			name: "an Indexed Job completes each index once (J-052)",
			job:  []option{indexed, completions(10), parallelism(3)},
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 10, completed: "0-9"},
			pods: 10, also: eachIndexOnce,
		},
		{
			name: "an Indexed Job with a failing index fails at its backoffLimit, and keeps what succeeded (J-112)",
			job:  []option{indexed, completions(5), parallelism(5), backoffLimit(1), failIndexes("2")},
			want: result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", succeeded: 4, failed: 2, completed: "0,1,3,4"},
			pods: 6,
		},
		{
			name: "with backoffLimit 0 the first failure fails the Job (J-112)",
			job:  []option{backoffLimit(0), outcome(fail)},
			want: result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 1},
			pods: 1,
		},
		{
			name: "with backoffLimit 1 a second pod comes 10 s after the first failed (J-103, J-260)",
			job:  []option{backoffLimit(1), outcome(fail)},
			want: result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 2},
			pods: 2, also: secondPodAfterTenSeconds,
		},
		{
			name: "a failing Job counts the active pods that it deletes as failed (J-169)",
			job:  []option{indexed, completions(3), parallelism(3), backoffLimit(0), failIndexes("1"), outcome(controlplane.OutcomeRun)},
			want: result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 3},
			pods: 1,
		},
		{
			name: "restarts of containers count with restartPolicy OnFailure (J-113)",
			job:  []option{onFailure, backoffLimit(2), outcome(fail), runFor("100ms")},
			want: result{condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", failed: 1},
		},
		{
			name: "past its deadline a Job fails, and its pods are deleted and counted (J-146, J-261)",
			job:  []option{parallelism(2), completions(4), deadline(5), outcome(controlplane.OutcomeRun), annotate(controlplane.AnnotationStopAfter, "300ms")},
			want: result{condition: batchv1.JobFailed, reason: "DeadlineExceeded", failed: 2},
			also: deadlineWasFiveSeconds,
		},
		{
			name: "a Job that wants no completions is complete without a pod (J-160)",
			job:  []option{completions(0)},
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached"},
		},
		{
			name: "an Indexed Job that wants no completions is complete without a pod (J-160)",
			job:  []option{indexed, completions(0), parallelism(0)},
			want: result{condition: batchv1.JobComplete, reason: "CompletionsReached"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.run("")
			w.create(newJob("demo", row.job...))
			j := w.ends("demo", row.want)
			w.eventually(fmt.Sprintf("%d pods remain", row.pods), func() (bool, error) {
				return len(w.pods("demo")) == row.pods, nil // deleted pods go when their containers end
			})
			if row.also != nil {
				row.also(w, j)
			}
		})
	}
}

// podsAreMadeAsTheContractSays: J-061, J-062. The log recognizes its own pods.
func podsAreMadeAsTheContractSays(w *world, j *batchv1.Job) {
	pod := w.pods("demo")[0]
	if len(pod.OwnerReferences) != 1 {
		w.t.Fatalf("the pod has owners %+v, want the Job alone (J-062)", pod.OwnerReferences)
	}
	owner := pod.OwnerReferences[0]
	if owner.APIVersion != "batch/v1" || owner.Kind != "Job" || owner.Name != j.Name || owner.UID != j.UID ||
		owner.Controller == nil || !*owner.Controller || owner.BlockOwnerDeletion == nil || !*owner.BlockOwnerDeletion {
		w.t.Errorf("the pod's owner is %+v, want the Job as its blocking controller (J-062)", owner)
	}
	if pod.Spec.Hostname != "" {
		w.t.Errorf("the pod of a Job that is not Indexed has hostname %q (J-065)", pod.Spec.Hostname)
	}
	said := pod.Annotations[events.CommandAnnotation]
	if _, job, ordinal, ok := events.ParseCommand(said); !ok || job != j.UID || ordinal != 1 {
		w.t.Errorf("the pod's annotation says %q, want the Job's first create", said)
	}
}

// eachIndexOnce: J-065, J-066.
func eachIndexOnce(w *world, _ *batchv1.Job) {
	seen := map[string]bool{}
	for _, pod := range w.pods("demo") {
		index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
		if seen[index] || index == "" {
			w.t.Errorf("pod %s has index %q, which another has too", pod.Name, index)
		}
		seen[index] = true
		if pod.Labels[batchv1.JobCompletionIndexAnnotation] != index || pod.Spec.Hostname != "demo-"+index {
			w.t.Errorf("pod %s of index %s has label %q and hostname %q (J-065)",
				pod.Name, index, pod.Labels[batchv1.JobCompletionIndexAnnotation], pod.Spec.Hostname)
		}
		env := pod.Spec.Containers[0].Env
		if len(env) != 1 || env[0].Name != "JOB_COMPLETION_INDEX" || env[0].ValueFrom == nil || env[0].ValueFrom.FieldRef == nil {
			w.t.Errorf("pod %s has the environment %+v (J-066)", pod.Name, env)
		}
	}
	for i := range 10 {
		if !seen[strconv.Itoa(i)] {
			w.t.Errorf("no pod ran index %d", i)
		}
	}
}

// atMostTwoAtOnce reads from the log how many pods were active at a time.
func atMostTwoAtOnce(w *world, _ *batchv1.Job) {
	records, err := w.controllers[0].Records(w.t.Context(), "job/demo", "-n", w.namespace)
	if err != nil {
		w.t.Fatal(err)
	}
	active := map[types.UID]bool{}
	most := 0
	for _, r := range records {
		if r.Kind != "PodAdded" && r.Kind != "PodChanged" {
			continue
		}
		var pod struct {
			UID   types.UID
			Phase corev1.PodPhase
		}
		if err := r.Into(&pod); err != nil {
			w.t.Fatal(err)
		}
		delete(active, pod.UID)
		if pod.Phase != corev1.PodSucceeded && pod.Phase != corev1.PodFailed {
			active[pod.UID] = true
		}
		most = max(most, len(active))
	}
	if most != 2 {
		w.t.Errorf("as the log tells it, %d pods were active at once, want 2", most)
	}
}

func secondPodAfterTenSeconds(w *world, _ *batchv1.Job) {
	pods := w.pods("demo")
	if len(pods) != 2 {
		return // reported already
	}
	first, second := pods[0], pods[1]
	if second.CreationTimestamp.Before(&first.CreationTimestamp) {
		first, second = second, first
	}
	end := first.Status.ContainerStatuses[0].State.Terminated.FinishedAt
	wait := second.CreationTimestamp.Sub(end.Time) // both in whole seconds
	w.t.Logf("the second pod was created %s after the first had failed", wait)
	if wait < 9*time.Second { // internal/dev/sim, with virtual time, judges how much later it may be
		w.t.Errorf("the second pod was created %s after the first had failed, want 10s", wait)
	}
}

func deadlineWasFiveSeconds(w *world, j *batchv1.Job) {
	interim := condition(j, batchv1.JobFailureTarget)
	if interim == nil {
		return // reported already
	}
	if after := interim.LastTransitionTime.Sub(j.Status.StartTime.Time); after < 5*time.Second {
		w.t.Errorf("the deadline of 5 s was found passed %s after the start (J-146: never earlier)", after)
	}
}

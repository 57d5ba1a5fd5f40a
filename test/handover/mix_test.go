package handover

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// part is one Job of the mix: its spec, the actions of its users, and its expected end.
type part struct {
	name  string
	job   func(*batchv1.Job)
	users []deed
	want  end
}

// deed is an action of a user, some time after the Job was created.
type deed struct {
	after time.Duration
	do    func(ctx context.Context, x *place, name string) error
}

// end is how a Job ends. A counter of -1 is taken from the history, which is checked in any case.
type end struct {
	gone              bool // it was deleted
	condition         batchv1.JobConditionType
	reason            string
	succeeded, failed int32
	completed         string
}

const asTheHistoryHasIt = -1

var completions = batchv1.JobReasonCompletionsReached

// mix has Jobs for every state in which a Job can be when its controller is killed.
var mix = []part{
	{
		name: "one",
		job:  pods(1, 1, "1s"),
		want: end{condition: batchv1.JobComplete, reason: completions, succeeded: 1},
	},
	{
		name: "fixed",
		job:  pods(2, 6, "900ms"),
		want: end{condition: batchv1.JobComplete, reason: completions, succeeded: 6},
	},
	{
		name: "queue",
		job: func(j *batchv1.Job) {
			pods(3, 0, "1500ms")(j)
			j.Spec.Completions = nil
		},
		want: end{condition: batchv1.JobComplete, reason: completions, succeeded: asTheHistoryHasIt},
	},
	{
		name: "indexed",
		job:  indexed(3, 8, "700ms"),
		want: end{condition: batchv1.JobComplete, reason: completions, succeeded: 8, completed: "0-7"},
	},
	{
		name: "backoff",
		job: func(j *batchv1.Job) {
			pods(1, 1, "500ms")(j)
			annotate(j, controlplane.AnnotationOutcome, controlplane.OutcomeFail)
			j.Spec.BackoffLimit = new(int32(1))
		},
		want: end{condition: batchv1.JobFailed, reason: batchv1.JobReasonBackoffLimitExceeded, failed: 2},
	},
	{
		name: "per-index",
		job: func(j *batchv1.Job) {
			indexed(3, 4, "600ms")(j)
			annotate(j, controlplane.AnnotationFailIndexes, "1")
			j.Spec.BackoffLimitPerIndex = new(int32(1))
		},
		want: end{condition: batchv1.JobFailed, reason: batchv1.JobReasonFailedIndexes, succeeded: 3, failed: 2, completed: "0,2,3"},
	},
	{
		name: "policy",
		job: func(j *batchv1.Job) {
			indexed(3, 3, "2s")(j)
			annotate(j, controlplane.AnnotationFailIndexes, "2")
			annotate(j, controlplane.AnnotationExitCode, "42")
			annotate(j, controlplane.AnnotationOutcome, controlplane.OutcomeRun)
			j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
				},
			}}}
		},
		want: end{condition: batchv1.JobFailed, reason: batchv1.JobReasonPodFailurePolicy, failed: asTheHistoryHasIt},
	},
	{
		name: "deadline",
		job: func(j *batchv1.Job) {
			pods(2, 2, "1s")(j)
			annotate(j, controlplane.AnnotationOutcome, controlplane.OutcomeRun)
			annotate(j, controlplane.AnnotationStopAfter, "1500ms")
			j.Spec.ActiveDeadlineSeconds = new(int64(6))
		},
		want: end{condition: batchv1.JobFailed, reason: batchv1.JobReasonDeadlineExceeded, failed: asTheHistoryHasIt},
	},
	{
		name: "success-policy",
		job: func(j *batchv1.Job) {
			indexed(3, 3, "1s")(j)
			annotate(j, controlplane.AnnotationOutcome, controlplane.OutcomeRun)
			j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("1")}}}
		},
		users: []deed{{4 * time.Second, succeedIndex("1")}},
		want:  end{condition: batchv1.JobComplete, reason: batchv1.JobReasonSuccessPolicy, succeeded: 1, failed: asTheHistoryHasIt, completed: "1"},
	},
	{
		name: "suspended",
		job: func(j *batchv1.Job) {
			indexed(2, 4, "800ms")(j)
			j.Spec.Suspend = new(true)
		},
		users: []deed{{4 * time.Second, set(`"suspend":false`)}, {6 * time.Second, set(`"suspend":true`)}, {9 * time.Second, set(`"suspend":false`)}},
		want:  end{condition: batchv1.JobComplete, reason: completions, succeeded: 4, completed: "0-3"},
	},
	{
		name: "replaced-when-failed",
		job: func(j *batchv1.Job) {
			indexed(2, 2, "5s")(j)
			annotate(j, controlplane.AnnotationStopAfter, "2s")
			j.Spec.PodReplacementPolicy = new(batchv1.Failed)
		},
		users: []deed{{4 * time.Second, deletePod}},
		want:  end{condition: batchv1.JobComplete, reason: completions, succeeded: 2, failed: asTheHistoryHasIt, completed: "0,1"},
	},
	{
		name: "elastic",
		job:  indexed(5, 5, "10s"), // no pod has ended before the last action
		users: []deed{
			{3 * time.Second, set(`"completions":2,"parallelism":2`)},
			{6 * time.Second, set(`"completions":4,"parallelism":4`)},
		},
		want: end{condition: batchv1.JobComplete, reason: completions, succeeded: 4, failed: 0, completed: "0-3"},
	},
	{
		name: "deleted-background",
		job:  pods(2, 4, "2s"), users: []deed{{5 * time.Second, deleteJob(metav1.DeletePropagationBackground)}},
		want: end{gone: true},
	},
	{
		name: "deleted-foreground",
		job:  indexed(2, 4, "2s"), users: []deed{{6 * time.Second, deleteJob(metav1.DeletePropagationForeground)}},
		want: end{gone: true},
	},
}

// pods makes a Job with this parallelism, these completions, and this run time of each pod.
func pods(parallelism, completions int32, runFor string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.Parallelism, j.Spec.Completions = &parallelism, &completions
		annotate(j, controlplane.AnnotationRunFor, runFor)
	}
}

func indexed(parallelism, completions int32, runFor string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		pods(parallelism, completions, runFor)(j)
		j.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	}
}

func annotate(j *batchv1.Job, key, value string) { j.Spec.Template.Annotations[key] = value }

// make returns the Job of a part, for the controller of Jobs that are not delegated.
func (p *part) make(name string, nth int) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
			},
		}},
	}
	if nth%2 == 1 {
		j.Spec.ManagedBy = new(events.BuiltinManagedBy) // means the same as none
	}
	p.job(j)
	return j
}

func set(patch string) func(context.Context, *place, string) error {
	return func(ctx context.Context, x *place, name string) error {
		_, err := shared.Admin.BatchV1().Jobs(x.namespace).Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{`+patch+`}}`), metav1.PatchOptions{})
		return err
	}
}

func deleteJob(how metav1.DeletionPropagation) func(context.Context, *place, string) error {
	return func(ctx context.Context, x *place, name string) error {
		return shared.Admin.BatchV1().Jobs(x.namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &how})
	}
}

// deletePod deletes a running pod as a user, as soon as there is one.
func deletePod(ctx context.Context, x *place, name string) error {
	pod, err := x.live(ctx, name, whichever)
	if err != nil {
		return err
	}
	return shared.Admin.CoreV1().Pods(x.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
}

// succeedIndex ends the pod of an index as succeeded, as soon as it runs; it would else run for ever.
func succeedIndex(index string) func(context.Context, *place, string) error {
	return func(ctx context.Context, x *place, name string) error {
		pod, err := x.live(ctx, name, index)
		if err != nil {
			return err
		}
		if err := x.kubelet.Succeed(ctx, pod); err != nil {
			return fmt.Errorf("end index %s: %w", index, err)
		}
		return nil
	}
}

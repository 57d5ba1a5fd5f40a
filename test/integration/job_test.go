package integration

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/controlplane"
)

// option changes a Job before it is created.
type option func(*batchv1.Job)

// newJob returns a Job for our controller with one pod, which succeeds at once, unless options say otherwise.
func newJob(name string, options ...option) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: new(events.ManagedBy),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "any"}},
				},
			},
		},
	}
	for _, o := range options {
		o(j)
	}
	return j
}

func managedBy(who *string) option { return func(j *batchv1.Job) { j.Spec.ManagedBy = who } }
func parallelism(n int32) option   { return func(j *batchv1.Job) { j.Spec.Parallelism = &n } }
func completions(n int32) option   { return func(j *batchv1.Job) { j.Spec.Completions = &n } }
func backoffLimit(n int32) option  { return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n } }
func deadline(seconds int64) option {
	return func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &seconds }
}
func outcome(how string) option      { return annotate(controlplane.AnnotationOutcome, how) }
func runFor(duration string) option  { return annotate(controlplane.AnnotationRunFor, duration) }
func failIndexes(list string) option { return annotate(controlplane.AnnotationFailIndexes, list) }

func suspended(j *batchv1.Job) { j.Spec.Suspend = new(true) }

func indexed(j *batchv1.Job) { j.Spec.CompletionMode = new(batchv1.IndexedCompletion) }

func onFailure(j *batchv1.Job) {
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
}

// annotate sets an annotation of the Job's pods, see package controlplane.
func annotate(key, value string) option {
	return func(j *batchv1.Job) { j.Spec.Template.Annotations[key] = value }
}

func (w *world) create(j *batchv1.Job) *batchv1.Job {
	w.t.Helper()
	created, err := w.client.BatchV1().Jobs(w.namespace).Create(w.t.Context(), j, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return created
}

func (w *world) job(name string) *batchv1.Job {
	w.t.Helper()
	j, err := w.client.BatchV1().Jobs(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// patch changes the Job's spec by a merge patch.
func (w *world) patch(name, spec string) {
	w.t.Helper()
	_, err := w.client.BatchV1().Jobs(w.namespace).Patch(
		w.t.Context(), name, types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// delete deletes the Job and, in the background, its pods.
func (w *world) delete(name string) {
	w.t.Helper()
	how := metav1.DeletePropagationBackground
	err := w.client.BatchV1().Jobs(w.namespace).Delete(w.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &how})
	if err != nil {
		w.t.Fatal(err)
	}
}

// gone waits until the Job of that UID does not exist any more.
func (w *world) gone(j *batchv1.Job) {
	w.t.Helper()
	w.eventually("Job "+j.Name+" is gone", func() (bool, error) {
		got, err := w.client.BatchV1().Jobs(w.namespace).Get(w.t.Context(), j.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && got.UID != j.UID, err
	})
}

func condition(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return nil
	}
	return &j.Status.Conditions[i]
}

// result is how a Job ends.
type result struct {
	condition batchv1.JobConditionType
	reason    string
	succeeded int32
	failed    int32
	completed string // completedIndexes
}

// ends waits until the Job is finished and none of its pods keeps a tracking finalizer, and checks how it ended.
func (w *world) ends(name string, want result) *batchv1.Job {
	w.t.Helper()
	var j *batchv1.Job
	w.eventually("Job "+name+" finishes", func() (bool, error) {
		j = w.job(name)
		return condition(j, batchv1.JobComplete) != nil || condition(j, batchv1.JobFailed) != nil, nil
	})
	if err := finishedAs(j, want); err != nil {
		w.t.Errorf("Job %s: %v", name, err)
	}
	w.letGo(name)
	if after := w.job(name); after.ResourceVersion != j.ResourceVersion {
		w.t.Errorf("Job %s was written again after it finished (J-008): %+v", name, after.Status)
	}
	return j
}

// finishedAs checks a finished Job.
func finishedAs(j *batchv1.Job, want result) error {
	got := result{succeeded: j.Status.Succeeded, failed: j.Status.Failed, completed: j.Status.CompletedIndexes}
	interim := map[batchv1.JobConditionType]batchv1.JobConditionType{
		batchv1.JobComplete: batchv1.JobSuccessCriteriaMet, batchv1.JobFailed: batchv1.JobFailureTarget,
	}
	for last, first := range interim {
		end := condition(j, last)
		if end == nil {
			continue
		}
		got.condition, got.reason = last, end.Reason
		before := condition(j, first)
		if before == nil || before.Reason != end.Reason || before.Message != end.Message {
			return fmt.Errorf("%s without a %s that says the same (J-162): %+v", last, first, j.Status.Conditions)
		}
	}
	if got != want {
		return fmt.Errorf("it ended as %+v, want %+v", got, want)
	}
	s := &j.Status
	left := s.Active != 0 || s.Ready == nil || *s.Ready != 0 || s.Terminating == nil || *s.Terminating != 0
	if u := s.UncountedTerminatedPods; left || u != nil && len(u.Succeeded)+len(u.Failed) > 0 || s.StartTime == nil {
		return fmt.Errorf("something is left in the status of a finished Job (J-166): %+v", s)
	}
	if (s.CompletionTime != nil) != (want.condition == batchv1.JobComplete) {
		return fmt.Errorf("completionTime is %v of a Job that is %s (J-165)", s.CompletionTime, want.condition)
	}
	return nil
}

// letGo waits until no pod of the Job has a tracking finalizer.
func (w *world) letGo(job string) {
	w.t.Helper()
	w.eventually("no pod of Job "+job+" keeps a tracking finalizer", func() (bool, error) {
		return !slices.ContainsFunc(w.pods(job), tracked), nil
	})
}

func tracked(p corev1.Pod) bool {
	return slices.Contains(p.Finalizers, events.TrackingFinalizer) || slices.Contains(p.Finalizers, events.BuiltinTrackingFinalizer)
}

package apiserver

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestALoadedObjectStaysAsItIsGiven(t *testing.T) {
	s := newServer(1)
	job := testJob("demo")
	job.Namespace, job.UID, job.CreationTimestamp = "batch", "uid-demo", metav1.NewTime(time.Unix(9, 0))
	job.Status = batchv1.JobStatus{Active: 2, Succeeded: 3}
	ok(t, s.Load(job))
	stored := s.Job("batch", "demo")
	if stored.UID != "uid-demo" || stored.CreationTimestamp.Unix() != 9 || stored.Status.Active != 2 || stored.Status.Succeeded != 3 {
		t.Errorf("stored %+v", stored)
	}
	if *stored.Spec.BackoffLimit != defaultBackoffLimit || VersionOf(stored) != s.Version() || s.Namespace("batch") == nil {
		t.Errorf("what every stored object has is filled in: %+v", stored)
	}
	ok(t, s.Load(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "p"}}))
	if pod := s.Pod("batch", "p"); pod.UID == "" || pod.CreationTimestamp.IsZero() || pod.Status.Phase != corev1.PodPending {
		t.Errorf("stored %+v", pod)
	}
	wantErr(t, apierrors.IsAlreadyExists, s.Load(job))
	if err := s.Load(&corev1.ConfigMap{}); err == nil || !strings.Contains(err.Error(), "*v1.ConfigMap are not modelled") {
		t.Errorf("a ConfigMap: %v", err)
	}
	job.Name, job.Annotations = "other", map[string]string{AnnotationFaults + "patch": "none worse"}
	if err := s.Load(job); err == nil || !strings.Contains(err.Error(), `there is no fault "worse"`) {
		t.Errorf("a fault that there is not: %v", err)
	}
}

// TestAnnotatedFaults: calls meet the faults that their object asks for, in order; the last fault repeats. Other verbs
// meet none.
func TestAnnotatedFaults(t *testing.T) {
	s := newServer(1)
	c := s.Client("test")
	c.Faults = s.AnnotatedFaults()
	asks := map[string]string{AnnotationFaults + "patch": "too-many-requests none webhook"}
	ok(t, s.Load(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Annotations: asks}}))
	for i, is := range []func(error) bool{
		apierrors.IsTooManyRequests, func(err error) bool { return err == nil }, apierrors.IsForbidden, apierrors.IsForbidden,
	} {
		if _, err := c.PatchPod(ctx, "default", "p", []byte(`{"metadata":{"labels":{"a":"b"}}}`)); !is(err) {
			t.Errorf("patch %d: %v", i, err)
		}
	}
	must(c.FindPod(ctx, "default", "p"))(t)
	_, err := c.PatchPod(ctx, "default", "absent", []byte(`{}`))
	wantErr(t, apierrors.IsNotFound, err)
}

// TestAnotherClientComesBetween: just before a patch, another client replaces the pod, or creates a second one like it.
func TestAnotherClientComesBetween(t *testing.T) {
	for kind, names := range map[FaultKind][]string{ReplacedByAnother: {"p"}, CopiedByAnother: {"p", "p-copy"}} {
		t.Run(kind.String(), func(t *testing.T) {
			s := newServer(1)
			c := s.Client("test")
			c.Faults = s.AnnotatedFaults()
			ok(t, s.Load(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: "p", UID: "first", Finalizers: []string{fin},
				Annotations: map[string]string{AnnotationFaults + "patch": kind.String(), "keep": "yes"},
			}}))
			_, err := c.PatchPod(ctx, "default", "p", []byte(`{"metadata":{"uid":"first","labels":{"a":"b"}}}`))
			if want := kind == ReplacedByAnother; apierrors.IsInvalid(err) != want || (err != nil) != want {
				t.Errorf("the patch with the first UID: %v", err)
			}
			var found []string
			for _, pod := range s.AllPods() {
				found = append(found, pod.Name)
			}
			if !slices.Equal(found, names) {
				t.Fatalf("there are %v, want %v", found, names)
			}
			made := s.Pod("default", names[len(names)-1])
			if made.UID == "first" || made.Annotations["keep"] != "yes" || len(made.Annotations) != 1 || (len(made.Finalizers) > 0) != (kind == CopiedByAnother) {
				t.Errorf("made %+v", made.ObjectMeta)
			}
		})
	}
}

// TestOverwrite: a CronJob gets a spec that no present API server accepts.
func TestOverwrite(t *testing.T) {
	s := newServer(1)
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "c"}, Spec: batchv1.CronJobSpec{Schedule: "@daily"}}
	s.Overwrite(cronJob) // there is none
	ok(t, s.Load(cronJob))
	cronJob.Spec.Schedule = "never"
	s.Overwrite(cronJob)
	s.Overwrite(cronJob)
	got := s.CronJob("batch", "c")
	if got.Spec.Schedule != "never" || got.Generation != 1 || *got.Spec.Suspend {
		t.Errorf("it has become %+v", got)
	}
}

package integration

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
)

// selecting gives a Job its own selector.
func selecting(labels map[string]string) option {
	return func(j *batchv1.Job) {
		j.Spec.ManualSelector, j.Spec.Selector = new(true), &metav1.LabelSelector{MatchLabels: labels}
		j.Spec.Template.Labels = labels
	}
}

// J-180: two Jobs select a pod without an owner; the older Job gets it.
// J-177: the pod had ended before it was adopted, and counts.
// J-181: a Job with its own selector is like any other.
func TestOverlappingSelectors(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	w := newWorld(t)
	shared := map[string]string{"app": "shared"}
	older := w.create(newJob("older", selecting(shared)))
	w.eventually("a second passes, the resolution of creation times", func() (bool, error) {
		return time.Since(older.CreationTimestamp.Time) > 1100*time.Millisecond, nil
	})
	w.create(newJob("younger", selecting(shared)))
	stray, err := w.client.CoreV1().Pods(w.namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stray", Labels: shared, Annotations: map[string]string{controlplane.AnnotationRunFor: "10ms"}},
		Spec:       newJob("stray").Spec.Template.Spec,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	get := func() *corev1.Pod {
		pod, err := w.client.CoreV1().Pods(w.namespace).Get(t.Context(), stray.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return pod
	}
	w.eventually("the pod that nobody owns succeeds", func() (bool, error) { return get().Status.Phase == corev1.PodSucceeded, nil })

	w.run("")
	complete := result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 1}
	w.ends("older", complete)
	w.ends("younger", complete)
	w.eventually("the pod has lost the finalizer", func() (bool, error) { return !tracked(*get()), nil })
	if owner := metav1.GetControllerOf(get()); owner == nil || owner.UID != older.UID || len(get().OwnerReferences) != 1 {
		t.Errorf("the pod's owners are %v, want the older Job alone", get().OwnerReferences)
	}
	if got := w.written(func(x controlplane.Write) bool { return x.Resource == "pods" && x.Verb == "create" }); got["create pods"] != 1 {
		t.Errorf("we made %d pods, want one, of the younger Job", got["create pods"])
	}
}

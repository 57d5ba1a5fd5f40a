package controlplane_test

import (
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/causes"
)

// TestDeletedPodsSayWhatARealKubeletSays: a pod is deleted while it runs, or before it starts. Its last status has the
// words of a real kubelet (test/node/situations).
func TestDeletedPodsSayWhatARealKubeletSays(t *testing.T) {
	real, err := causes.ReadWords(filepath.Join("..", "internal", "causes", "testdata", "words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, outcome, like string }{
		{"runs", controlplane.OutcomeRun, "delete"},
		{"waits", controlplane.OutcomePending, "pendingdelete"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			last := w.deleted(t, row.name, row.outcome)
			if !slices.Contains(real[row.like], last) {
				t.Errorf("the last words are %q, and not one of\n%q", last, real[row.like])
			}
		})
	}
}

// deleted makes a pod, deletes it with a grace period of 2 s while it runs or waits, and returns the line of its last
// version.
func (w *world) deleted(t *testing.T, name, outcome string) string {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	pods := w.client.CoreV1().Pods(w.namespace)
	versions, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer versions.Stop()
	_, err = pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{controlplane.AnnotationOutcome: outcome}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(2)), Containers: []corev1.Container{{Name: "main", Image: "any"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last, asked := "", false
	for e := range versions.ResultChan() {
		p, ok := e.Object.(*corev1.Pod)
		switch {
		case !ok:
			t.Fatalf("the watch says %+v", e.Object)
		case e.Type == watch.Deleted:
			return last
		case p.Status.Phase == corev1.PodFailed:
			last = causes.Line(p)
		case p.Spec.NodeName == "" || asked:
		case outcome == controlplane.OutcomePending && len(p.Status.ContainerStatuses) == 0:
			causes.Begin(p)
			causes.Waits(0, "ErrImagePull", "not found")(&p.Status)
			if _, err := pods.UpdateStatus(ctx, p, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		case outcome == controlplane.OutcomePending || p.Status.Phase == corev1.PodRunning:
			asked = true
			if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("the watch ended")
	return ""
}

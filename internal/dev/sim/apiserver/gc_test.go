package apiserver

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settle runs steps until none is left, and returns their number.
func settle(t *testing.T, step func() bool) int {
	t.Helper()
	for n := 0; n < 1000; n++ {
		if !step() {
			return n
		}
	}
	t.Fatal("the steps do not end")
	return 0
}

func TestBackgroundDeletionRemovesTheJobFirst(t *testing.T) {
	w := newWorld(t, "demo-a", "demo-b")
	w.start(t, "demo-a")
	ok(t, w.DeleteJob(ctx, "default", "demo", w.job.UID, metav1.DeletePropagationBackground))
	if w.Job("default", "demo") != nil {
		t.Fatal("the Job should be gone at once")
	}
	settle(t, w.GarbageCollector().Step)
	for _, name := range []string{"demo-a", "demo-b"} {
		if pod := w.Pod("default", name); pod == nil || pod.DeletionTimestamp == nil {
			t.Errorf("pod %s: %+v, want it held by its finalizer", name, pod)
		}
	}
}

func TestForegroundDeletionWaitsForThePods(t *testing.T) {
	w := newWorld(t, "demo-a")
	ok(t, w.DeleteJob(ctx, "default", "demo", w.job.UID, metav1.DeletePropagationForeground))
	settle(t, w.GarbageCollector().Step)
	job, pod := w.Job("default", "demo"), w.Pod("default", "demo-a")
	if job == nil || job.DeletionTimestamp == nil || job.Generation != 2 || pod.DeletionTimestamp == nil {
		t.Fatalf("job %+v, pod %+v", job, pod)
	}
	must(w.PatchPod(ctx, "default", "demo-a", dropPatch(pod)))(t)
	settle(t, w.GarbageCollector().Step)
	if w.Job("default", "demo") != nil {
		t.Error("the Job should be gone after its last pod")
	}
}

func TestOrphanDeletionLeavesThePods(t *testing.T) {
	w := newWorld(t, "demo-a", "demo-b")
	ok(t, w.DeleteJob(ctx, "default", "demo", w.job.UID, metav1.DeletePropagationOrphan))
	if n := settle(t, w.GarbageCollector().Step); n != 3 {
		t.Errorf("%d steps, want one per pod and one for the Job", n)
	}
	if w.Job("default", "demo") != nil {
		t.Error("the Job should be gone")
	}
	for _, pod := range w.AllPods() {
		if len(pod.OwnerReferences) != 0 || pod.DeletionTimestamp != nil || len(pod.Finalizers) != 1 {
			t.Errorf("orphan %+v", pod.ObjectMeta)
		}
	}
}

func TestPodsOfARecreatedJobAreCollected(t *testing.T) {
	w := newWorld(t, "demo-a")
	ok(t, w.DeleteJob(ctx, "default", "demo", w.job.UID, metav1.DeletePropagationBackground))
	again := must(w.CreateJob(ctx, testJob("demo")))(t)
	must(w.CreatePod(ctx, podOf(again, "demo-b")))(t)
	settle(t, w.GarbageCollector().Step)
	if w.Pod("default", "demo-a").DeletionTimestamp == nil || w.Pod("default", "demo-b").DeletionTimestamp != nil {
		t.Error("only the old Job's pod should be deleted")
	}
	wantErr(t, apierrors.IsConflict, w.DeleteJob(ctx, "default", "demo", w.job.UID, ""))
}

func TestPodGC(t *testing.T) {
	w := newWorld(t, "demo-a", "demo-b", "demo-c")
	w.start(t, "demo-a")
	ok(t, w.DeletePod(ctx, "default", "demo-b", "", ""))
	gc := w.PodGC()
	if n := settle(t, gc.Step); n != 1 {
		t.Errorf("%d steps, want only the unscheduled pod failed", n)
	}
	if pod := w.Pod("default", "demo-b"); pod.Status.Phase != corev1.PodFailed {
		t.Errorf("deleted, never scheduled: phase %s", pod.Status.Phase)
	}
	gc.LoseNode("node-0")
	settle(t, gc.Step)
	pod := w.Pod("default", "demo-a")
	if pod.Status.Phase != corev1.PodFailed || pod.DeletionTimestamp == nil || *pod.DeletionGracePeriodSeconds != 0 ||
		pod.Status.Conditions[len(pod.Status.Conditions)-1].Type != corev1.DisruptionTarget {
		t.Errorf("pod on a lost node: %+v", pod)
	}
	if pod := w.Pod("default", "demo-c"); pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
		t.Error("a pod that waits for a node was touched")
	}
}

func TestNamespaceDeletion(t *testing.T) {
	w := newWorld(t, "demo-a")
	ok(t, w.DeleteNamespace(ctx, "default"))
	_, err := w.CreatePod(ctx, podOf(w.job, "demo-b"))
	wantErr(t, apierrors.IsForbidden, err)
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("%v lacks the cause NamespaceTerminating", err)
	}
	settle(t, w.NamespaceController().Step)
	if w.Job("default", "demo") != nil || w.Namespace("default") == nil {
		t.Error("the Job should be gone, the namespace held by the pod's finalizer")
	}
	must(w.PatchPod(ctx, "default", "demo-a", dropPatch(w.pods[0])))(t)
	settle(t, w.NamespaceController().Step)
	if w.Namespace("default") != nil {
		t.Error("the namespace should be gone")
	}
	_, err = w.CreateJob(ctx, testJob("demo"))
	wantErr(t, apierrors.IsNotFound, err)
	must(w.CreateNamespace(ctx, "default"))(t)
	must(w.CreateJob(ctx, testJob("demo")))(t)
}

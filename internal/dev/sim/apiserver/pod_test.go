package apiserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodNames(t *testing.T) {
	w := newWorld(t, "demo-a")
	_, err := w.CreatePod(ctx, podOf(w.job, "demo-a"))
	wantErr(t, apierrors.IsAlreadyExists, err)

	both := podOf(w.job, "demo-b")
	both.GenerateName = "demo-"
	if pod := must(w.CreatePod(ctx, both))(t); pod.Name != "demo-b" {
		t.Errorf("an explicit name became %q", pod.Name)
	}

	long := podOf(w.job, "")
	long.GenerateName = strings.Repeat("x", 70) + "-"
	pod := must(w.CreatePod(ctx, long))(t)
	if len(pod.Name) != 63 || !strings.HasPrefix(pod.Name, strings.Repeat("x", 58)) {
		t.Errorf("generated name %q", pod.Name)
	}

	none := podOf(w.job, "")
	_, err = w.CreatePod(ctx, none)
	wantErr(t, apierrors.IsInvalid, err)
	versioned := podOf(w.job, "demo-c")
	versioned.ResourceVersion = "4"
	_, err = w.CreatePod(ctx, versioned)
	wantErr(t, func(err error) bool { return err != nil && apierrors.ReasonForError(err) == "" }, err)
}

func TestNewPodIsPendingWhateverItsStatusSays(t *testing.T) {
	w := newWorld(t)
	in := podOf(w.job, "demo-a")
	in.Status.Phase = corev1.PodSucceeded
	pod := must(w.CreatePod(ctx, in))(t)
	if pod.Status.Phase != corev1.PodPending || *pod.Spec.TerminationGracePeriodSeconds != 30 || pod.UID == "" {
		t.Errorf("pod %+v", pod)
	}
}

func TestPodDeletion(t *testing.T) {
	for _, row := range []struct {
		name      string
		finalizer bool
		prepare   func(*testing.T, world)
		remains   bool
		grace     int64
	}{
		{"a pod on no node without finalizers goes at once", false, func(*testing.T, world) {}, false, 0},
		{"a pod on no node with a finalizer stays, without grace", true, func(*testing.T, world) {}, true, 0},
		{"a pod on a node gets its grace period", false, func(t *testing.T, w world) { w.start(t, "demo-a") }, true, 30},
		{"a pod on a node with a finalizer gets its grace period", true, func(t *testing.T, w world) { w.start(t, "demo-a") }, true, 30},
		{"an ended pod without finalizers goes at once", false, func(t *testing.T, w world) { w.start(t, "demo-a"); w.end(t, "demo-a", corev1.PodFailed) }, false, 0},
		{"an ended pod with a finalizer stays, without grace", true, func(t *testing.T, w world) { w.start(t, "demo-a"); w.end(t, "demo-a", corev1.PodFailed) }, true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			in := podOf(w.job, "demo-a")
			if !row.finalizer {
				in.Finalizers = nil
			}
			pod := must(w.CreatePod(ctx, in))(t)
			row.prepare(t, w)
			ok(t, w.DeletePod(ctx, "default", "demo-a", pod.UID, ""))
			got := w.Pod("default", "demo-a")
			if (got != nil) != row.remains {
				t.Fatalf("remains: %v, want %v", got != nil, row.remains)
			}
			if got == nil {
				return
			}
			if want := start.Add(secondsOf(row.grace)); *got.DeletionGracePeriodSeconds != row.grace || !got.DeletionTimestamp.Time.Equal(want) {
				t.Errorf("grace %d until %v, want %d until %v", *got.DeletionGracePeriodSeconds, got.DeletionTimestamp, row.grace, want)
			}
			before := w.Version()
			ok(t, w.DeletePod(ctx, "default", "demo-a", pod.UID, ""))
			if w.Version() != before {
				t.Error("deleting again changed the pod")
			}
		})
	}
}

func TestKubeletConfirmsADeletion(t *testing.T) {
	w := newWorld(t, "demo-a")
	w.start(t, "demo-a")
	ok(t, w.DeletePod(ctx, "default", "demo-a", "", ""))
	ok(t, w.Delete(ctx, Pods, "default", "demo-a", DeleteOptions{GraceSeconds: new(int64)}))
	pod := w.Pod("default", "demo-a")
	if pod == nil || *pod.DeletionGracePeriodSeconds != 0 || !pod.DeletionTimestamp.Time.Equal(start) {
		t.Fatalf("the finalizer should hold the pod, without grace: %+v", pod)
	}
	cursor := must(w.Watch(Pods, w.Version()))(t)
	patched := must(w.PatchPod(ctx, "default", "demo-a", dropPatch(pod)))(t)
	if len(patched.Finalizers) != 0 || w.Pod("default", "demo-a") != nil {
		t.Errorf("dropping the last finalizer should remove the pod: %+v", patched.ObjectMeta)
	}
	e, _, _ := cursor.Next()
	if e.Type != "DELETED" || VersionOf(e.Object) != w.Version() || len(e.Object.GetFinalizers()) != 1 {
		t.Errorf("a removal shows the pod as last stored, under the removal's version; got %s %+v", e.Type, e.Object)
	}
}

func dropPatch(pod *corev1.Pod) []byte {
	return fmt.Appendf(nil, `{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, pod.UID, fin)
}

func TestDeletePreconditions(t *testing.T) {
	w := newWorld(t, "demo-a")
	pod := w.pods[0]
	wantErr(t, apierrors.IsConflict, w.DeletePod(ctx, "default", "demo-a", "other", ""))
	wantErr(t, apierrors.IsConflict, w.DeletePod(ctx, "default", "demo-a", pod.UID, "1"))
	wantErr(t, apierrors.IsNotFound, w.DeletePod(ctx, "default", "absent", pod.UID, ""))
	ok(t, w.DeletePod(ctx, "default", "demo-a", pod.UID, pod.ResourceVersion))
}

func TestPodPatches(t *testing.T) {
	w := newWorld(t, "demo-a")
	pod := w.pods[0]
	const other = "batch.kubernetes.io/job-tracking"
	steps := []struct {
		name, patch string
		want        func(*corev1.Pod) bool
	}{
		{"adding a finalizer keeps the others", `{"metadata":{"finalizers":["example.com/hold"]}}`,
			func(p *corev1.Pod) bool { return slices.Equal(sorted(p.Finalizers), []string{"example.com/hold", fin}) }},
		{"adding one and dropping another in one patch", `{"metadata":{"finalizers":["` + other + `"],"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}`,
			func(p *corev1.Pod) bool { return slices.Equal(sorted(p.Finalizers), []string{other, fin}) }},
		{"dropping one that is not there changes nothing", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}`,
			func(p *corev1.Pod) bool { return len(p.Finalizers) == 2 }},
		{"releasing removes the owner reference by UID and the finalizer",
			fmt.Sprintf(`{"metadata":{"uid":%q,"ownerReferences":[{"$patch":"delete","uid":%q}],"$deleteFromPrimitiveList/finalizers":[%q]}}`, pod.UID, w.job.UID, fin),
			func(p *corev1.Pod) bool {
				return len(p.OwnerReferences) == 0 && slices.Equal(p.Finalizers, []string{other})
			}},
		{"adopting adds the owner reference and the finalizer",
			fmt.Sprintf(`{"metadata":{"uid":%q,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"demo","uid":%q,"controller":true,"blockOwnerDeletion":true}],"finalizers":[%q],"$deleteFromPrimitiveList/finalizers":[%q]}}`,
				pod.UID, w.job.UID, fin, other),
			func(p *corev1.Pod) bool {
				return ControllerOf(p) == w.job.UID && slices.Equal(p.Finalizers, []string{fin})
			}},
		{"labels are merged, null removes one", `{"metadata":{"labels":{"job-name":null,"x":"y"}}}`,
			func(p *corev1.Pod) bool {
				_, left := p.Labels["job-name"]
				return !left && p.Labels["x"] == "y" && len(p.Labels) > 1
			}},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			got := must(w.PatchPod(ctx, "default", "demo-a", []byte(step.patch)))(t)
			if !step.want(got) {
				t.Errorf("after %s: finalizers %v, owners %v, labels %v", step.patch, got.Finalizers, got.OwnerReferences, got.Labels)
			}
		})
	}
	before := w.Version()
	must(w.PatchPod(ctx, "default", "demo-a", []byte(`{"metadata":{"labels":{"x":"y"}}}`)))(t)
	if w.Version() != before {
		t.Error("a patch that changes nothing moved the resource version")
	}
}

func sorted(list []string) []string { list = slices.Clone(list); slices.Sort(list); return list }

func TestPatchesThatAreRefused(t *testing.T) {
	w := newWorld(t, "demo-a")
	_, err := w.PatchPod(ctx, "default", "demo-a", []byte(`{"metadata":{"uid":"another","finalizers":["a/b"]}}`))
	wantErr(t, apierrors.IsInvalid, err)
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	if !found || cause.Field != "metadata.uid" {
		t.Errorf("cause %+v of %v, want field metadata.uid", cause, err)
	}
	_, err = w.PatchPod(ctx, "default", "demo-a", []byte(`{"metadata":{"resourceVersion":"1"}}`))
	wantErr(t, apierrors.IsConflict, err)
	_, err = w.PatchPod(ctx, "default", "absent", []byte(`{}`))
	wantErr(t, apierrors.IsNotFound, err)
	_, err = w.PatchPod(ctx, "default", "demo-a", []byte(`{`))
	wantErr(t, apierrors.IsBadRequest, err)
	_, err = w.PatchPod(ctx, "default", "demo-a", []byte(`{"spec":{"hostname":"x"}}`))
	wantErr(t, apierrors.IsInvalid, err)
	before := w.Version()
	must(w.PatchPod(ctx, "default", "demo-a", []byte(`{"status":{"phase":"Failed"}}`)))(t)
	if w.Version() != before {
		t.Error("a patch of the main resource wrote the status")
	}

	ok(t, w.DeletePod(ctx, "default", "demo-a", "", ""))
	_, err = w.PatchPod(ctx, "default", "demo-a", []byte(`{"metadata":{"finalizers":["a/b"]}}`))
	wantErr(t, apierrors.IsInvalid, err)
}

func TestTerminalPhaseStays(t *testing.T) {
	w := newWorld(t, "demo-a")
	w.start(t, "demo-a")
	wantErr(t, apierrors.IsConflict, w.BindPod(ctx, "default", "demo-a", "", "node-1"))
	w.end(t, "demo-a", corev1.PodSucceeded)
	err := w.UpdatePodStatus(ctx, "default", "demo-a", "", func(s *corev1.PodStatus) { s.Phase = corev1.PodFailed })
	wantErr(t, apierrors.IsInvalid, err)
	wantErr(t, apierrors.IsConflict, w.UpdatePodStatus(ctx, "default", "demo-a", "other", func(*corev1.PodStatus) {}))
}

func TestShorterGraceBringsTheEndForward(t *testing.T) {
	w := newWorld(t, "demo-a")
	w.start(t, "demo-a")
	ok(t, w.Delete(ctx, Pods, "default", "demo-a", DeleteOptions{}))
	ok(t, w.Delete(ctx, Pods, "default", "demo-a", DeleteOptions{GraceSeconds: new(int64(5))}))
	if got := w.Pod("default", "demo-a"); !got.DeletionTimestamp.Time.Equal(start.Add(5*time.Second)) || *got.DeletionGracePeriodSeconds != 5 {
		t.Errorf("deletion at %v", got.DeletionTimestamp)
	}
	ok(t, w.Delete(ctx, Pods, "default", "demo-a", DeleteOptions{GraceSeconds: new(int64(60))}))
	if got := w.Pod("default", "demo-a"); *got.DeletionGracePeriodSeconds != 5 {
		t.Error("a longer grace was granted")
	}
}

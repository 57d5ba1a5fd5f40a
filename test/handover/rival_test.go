package handover

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/history"
)

// TestBothAtOnce: the built-in controller is started while Jobledger runs with --manage=all. Jobledger notices it, says
// so, and makes no more writes. Its next run (only with JOBLEDGER_LONG, it takes a minute) waits until the built-in is
// gone, and then finishes the Job.
func TestBothAtOnce(t *testing.T) {
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	theirs, err := builtin.New(ctx, shared.ControlPlane, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := theirs.Kill(); err != nil {
			t.Error(err)
		}
	}()
	x := newPlace(t, ctx, "both at once")
	if err := x.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	busy := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "busy"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
			},
		}},
	}
	pods(2, 1000, "1s")(busy)
	if _, err := shared.Admin.BatchV1().Jobs(x.namespace).Create(ctx, busy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := theirs.Launch(); err != nil {
		t.Fatal(err)
	}
	x.awaitRecord(ctx, "RivalFound")

	// From now on only the built-in works on it.
	before := x.writes()
	grown := x.finishedPods() + 10
	if err := x.history.Await(ctx, func(history.Now) string {
		if n := x.finishedPods(); n < grown {
			return fmt.Sprintf("%d pods have been counted, %d are awaited", n, grown)
		}
		return ""
	}); err != nil {
		t.Fatal(err)
	}
	if after := x.writes(); after > before+2 { // requests that were sent before may still arrive
		t.Errorf("ours wrote %d times after it had found the built-in", after-before)
	}
	output, err := x.ours.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "kube-controller-manager runs the same Jobs"; !strings.Contains(output, want) {
		t.Errorf("the operator is not told %q:\n%s", want, output)
	}
	if !long {
		x.remove(ctx, "busy")
	}
	if err := theirs.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := x.ours.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if !long {
		return
	}
	if err := x.ours.Launch(); err != nil {
		t.Fatal(err)
	}
	x.awaitRecord(ctx, "RivalGone")
	few := []byte(fmt.Sprintf(`{"spec":{"parallelism":%d}}`, 50))
	if _, err := shared.Admin.BatchV1().Jobs(x.namespace).Patch(ctx, "busy", types.MergePatchType, few, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := x.history.Await(ctx, func(n history.Now) string {
		if job := n.Jobs["busy"]; job.Status.Succeeded < 1000 {
			return fmt.Sprintf("%d of 1000 pods have succeeded", job.Status.Succeeded)
		}
		return ""
	}); err != nil {
		t.Fatal(err)
	}
	if err := x.ours.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := x.ours.Check(ctx); err != nil {
		t.Error(err)
	}
}

// remove deletes an unfinished Job while the built-in runs, which removes the finalizers of its pods. Else the built-in
// of a later test would continue the Job, because it runs the Jobs of all namespaces.
func (x *place) remove(ctx context.Context, name string) {
	x.t.Helper()
	how := metav1.DeletePropagationForeground
	if err := shared.Admin.BatchV1().Jobs(x.namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
		x.t.Fatal(err)
	}
	if err := x.history.Await(ctx, func(n history.Now) string {
		_, err := shared.Admin.BatchV1().Jobs(x.namespace).Get(ctx, name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) || len(n.Pods) > 0 {
			return fmt.Sprintf("Job %s is awaited to go (%v), with %d pods", name, err, len(n.Pods))
		}
		return ""
	}); err != nil {
		x.t.Fatal(err)
	}
}

// awaitRecord waits until our log has a record of that kind. Nothing may change in the cluster meanwhile.
func (x *place) awaitRecord(ctx context.Context, kind string) {
	x.t.Helper()
	if err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		records, err := x.ours.Records(ctx, "--kind", kind)
		return err == nil && len(records) > 0, nil // it may not answer yet
	}); err != nil {
		x.t.Fatalf("wait for a record %s: %v", kind, err)
	}
}

// writes returns how often Jobledger has written to pods and Jobs.
func (x *place) writes() (n int) {
	x.t.Helper()
	counts, err := shared.CountWrites(func(w controlplane.Write) bool {
		return w.User == x.namespace && (strings.HasPrefix(w.Resource, "pods") || strings.HasPrefix(w.Resource, "jobs"))
	})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, count := range counts {
		n += count
	}
	return n
}

// finishedPods returns how many ended pods the Job's status counts.
func (x *place) finishedPods() int {
	job, err := shared.Admin.BatchV1().Jobs(x.namespace).Get(x.t.Context(), "busy", metav1.GetOptions{})
	if err != nil {
		x.t.Fatal(err)
	}
	return int(job.Status.Succeeded + job.Status.Failed)
}

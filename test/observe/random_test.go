package observe

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
)

const (
	randomJobs     = 300
	randomPatience = 2 * time.Minute // the default of the product
)

// TestNoDifferenceInRandomJobs: the built-in controller runs 300 random Jobs on a real API server, with users who
// suspend, resume, scale and delete. The observer finds no difference.
func TestNoDifferenceInRandomJobs(t *testing.T) {
	if !effort.IsLong() {
		t.Skip("300 Jobs take some minutes: JOBLEDGER_LONG=1")
	}
	seed := rand.Uint64()
	if text := os.Getenv("JOBLEDGER_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("JOBLEDGER_SEED=%s: %v", text, err)
		}
	}
	t.Logf("JOBLEDGER_SEED=%d plays the same Jobs and users again, not when each meets what the controller does", seed)
	r := rand.New(rand.NewPCG(seed, 0))

	ctx, cancel := patience.Several(t.Context(), 3)
	defer cancel()
	w := newPlace(t, ctx, randomPatience)
	if err := w.builtin.Launch(); err != nil {
		t.Fatal(err)
	}
	if err := w.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range randomJobs {
		name := fmt.Sprintf("random-%d", i)
		w.create(random(r, name))
		names = append(names, name)
		if i%3 == 2 {
			w.meddle(r, names[r.IntN(len(names))])
		}
	}
	for _, name := range names { // resume those that still wait
		if j := w.job(name); j != nil && j.Spec.Suspend != nil && *j.Spec.Suspend && !finished(j) {
			w.patch(name, `{"spec":{"suspend":false}}`)
		}
	}
	w.await("every Job is finished or gone", func() bool {
		list, err := shared.Admin.BatchV1().Jobs(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if !finished(&list.Items[i]) {
				return false
			}
		}
		return true
	})
	ended := time.Now()
	w.await("the patience has passed after the last Job ended", func() bool { return time.Since(ended) > randomPatience+5*time.Second })
	if found := w.differences(); len(found) > 0 {
		t.Errorf("%d differences from a controller that did nothing wrong:\n%s", len(found), strings.Join(found, "\n"))
	}
	w.wroteNothing()
	if err := w.ours.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := w.ours.Check(ctx); err != nil {
		t.Error(err)
	}
}

// random returns a Job of any kind that ends.
func random(r *rand.Rand, name string) *batchv1.Job {
	chance := func(p float64) bool { return r.Float64() < p }
	j := newJob(name, annotate(controlplane.AnnotationRunFor, fmt.Sprintf("%ds", 1+r.IntN(8))))
	s := &j.Spec
	s.Parallelism, s.BackoffLimit = new(1+r.Int32N(4)), new(r.Int32N(3))
	s.Suspend = new(chance(0.15))
	if chance(0.15) {
		s.ActiveDeadlineSeconds = new(1 + r.Int64N(10))
	}
	if chance(0.2) {
		s.PodReplacementPolicy = new(batchv1.Failed)
	}
	switch kind := r.IntN(4); kind {
	case 0: // a work queue
	case 1:
		s.Completions = new(r.Int32N(7))
	default:
		s.CompletionMode, s.Completions = new(batchv1.IndexedCompletion), new(1+r.Int32N(6))
		if chance(0.4) {
			annotate(controlplane.AnnotationFailIndexes, strconv.Itoa(r.IntN(int(*s.Completions))))(j)
		}
		if kind == 3 {
			s.BackoffLimitPerIndex, s.BackoffLimit = new(r.Int32N(2)), nil
			if chance(0.4) {
				s.MaxFailedIndexes = new(r.Int32N(*s.Completions + 1))
			}
		}
		if chance(0.3) {
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(1 + r.Int32N(*s.Completions))}}}
		}
	}
	if chance(0.25) {
		annotate(controlplane.AnnotationOutcome, controlplane.OutcomeFail)(j)
	}
	if chance(0.2) {
		action := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionCount}[r.IntN(2)]
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      action,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{77}},
		}}}
		s.PodReplacementPolicy = nil // Failed, as the server defaults it
	}
	return j
}

// meddle acts on a Job as a user, if the Job exists.
func (w *place) meddle(r *rand.Rand, name string) {
	w.t.Helper()
	j := w.job(name)
	if j == nil || finished(j) {
		return
	}
	jobs := shared.Admin.BatchV1().Jobs(w.namespace)
	switch r.IntN(5) {
	case 0:
		w.patch(name, fmt.Sprintf(`{"spec":{"suspend":%t}}`, j.Spec.Suspend == nil || !*j.Spec.Suspend))
	case 1:
		w.patch(name, fmt.Sprintf(`{"spec":{"parallelism":%d}}`, 1+r.IntN(4)))
	case 2:
		policy := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}[r.IntN(2)]
		if err := jobs.Delete(w.ctx, name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			w.t.Fatal(err)
		}
	default:
		w.deletePod(name)
	}
}

// deletePod deletes a pod of a Job, if it has one.
func (w *place) deletePod(job string) {
	w.t.Helper()
	pods, err := shared.Admin.CoreV1().Pods(w.namespace).List(w.ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range pods.Items {
		if p.Status.Phase != corev1.PodRunning {
			continue
		}
		if err := shared.Admin.CoreV1().Pods(w.namespace).Delete(w.ctx, p.Name, metav1.DeleteOptions{}); err != nil {
			w.t.Fatal(err)
		}
		return
	}
}

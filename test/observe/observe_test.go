package observe

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/builtin"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// observed is the observer's patience: longer than the built-in controller waits on a busy machine, and short enough
// for a test.
const observed = 25 * time.Second

// TestObserveBesideTheBuiltIn runs Jobs of many kinds with the built-in controller. The observer may only list and
// watch. It records the Jobs, finds no difference, and sends no write. Then the built-in controller is killed. The
// observer finds the missing actions, and a verdict that the test invents.
func TestObserveBesideTheBuiltIn(t *testing.T) {
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	w := newPlace(t, ctx, observed)
	if err := w.builtin.Launch(); err != nil {
		t.Fatal(err)
	}
	if err := w.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	jobs := mix()
	for _, j := range jobs {
		w.create(j)
	}
	w.disturb()
	w.await("every Job but those that run for ever is finished", func() bool {
		for _, j := range jobs {
			if now := w.job(j.Name); now != nil && !finished(now) && j.Labels["ends"] != "no" {
				return false
			}
		}
		return true
	})
	settled := time.Now()
	w.await("the patience has passed after the last Job ended", func() bool { return time.Since(settled) > observed+5*time.Second })
	if found := w.differences(); len(found) > 0 {
		t.Errorf("differences from a controller that did nothing wrong:\n%s", strings.Join(found, "\n"))
	}
	w.recordedAll(jobs)

	if err := w.builtin.Kill(); err != nil {
		t.Fatal(err)
	}
	w.create(newJob("nobody"))
	made := newJob("made-up", with(func(j *batchv1.Job) { j.Spec.Suspend = new(true) }))
	w.create(made)
	w.await("the Job is seen before its verdict", func() bool { return w.seen("made-up") }) // a Job that is over when first seen is not judged
	w.makeUp("made-up")
	for job, reason := range map[string]string{"nobody": "MorePodsWanted", "made-up": "Unexplained"} {
		w.await("the difference planted in Job "+job+" is found", func() bool {
			for _, line := range w.differences() {
				if strings.HasPrefix(line, job+" ") && strings.Contains(line, reason) {
					return true
				}
			}
			return false
		})
	}
	for _, line := range w.differences() {
		if !strings.HasPrefix(line, "nobody ") && !strings.HasPrefix(line, "made-up ") {
			t.Errorf("a difference where nothing was planted: %s", line)
		}
	}
	w.wroteNothing()
	if err := w.ours.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := w.ours.Check(ctx); err != nil {
		t.Error(err)
	}
}

// place is a namespace with Jobs, the controller that runs them, and the observer.
type place struct {
	t         *testing.T
	ctx       context.Context
	namespace string // also the name of the observer's user
	ours      *controller.Controller
	builtin   *builtin.Controller
}

func newPlace(t *testing.T, ctx context.Context, patient time.Duration) *place {
	t.Helper()
	namespace, err := shared.CreateNamespace(ctx, "observe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "jobledger-"+namespace+"-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := controller.NewReader(ctx, shared.ControlPlane, namespace, namespace, dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &place{t: t, ctx: ctx, namespace: namespace, ours: controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir, Manage: "observe",
		Args: []string{"--observe-patience=" + patient.String()},
	})}
	if w.builtin, err = builtin.New(ctx, shared.ControlPlane, dir); err != nil {
		t.Fatal(err)
	}
	w.clearUp(dir)
	return w
}

// clearUp stops the processes at the end of the test, and keeps the directory after a failure.
func (w *place) clearUp(dir string) {
	w.t.Cleanup(func() {
		if w.ours.Running() {
			_ = w.ours.Kill() // the test has failed
		}
		_ = w.builtin.Kill() // or it has ended
		if w.t.Failed() {
			w.t.Logf("The log and the output are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			w.t.Error(err)
		}
	})
}

func (w *place) create(j *batchv1.Job) {
	w.t.Helper()
	if _, err := shared.Admin.BatchV1().Jobs(w.namespace).Create(w.ctx, j, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// job returns the present Job; nil: it is gone.
func (w *place) job(name string) *batchv1.Job {
	j, err := shared.Admin.BatchV1().Jobs(w.namespace).Get(w.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return j
}

func finished(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func (w *place) await(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-w.ctx.Done():
			w.t.Fatalf("%s: not within the time; found so far:\n%s", what, strings.Join(w.differences(), "\n"))
		case <-w.ours.Ended():
			w.t.Fatalf("%s: jobledger ended: %v", what, w.ours.Failed())
		case <-tick.C:
		}
	}
}

// disturb does what users do to running Jobs.
func (w *place) disturb() {
	w.t.Helper()
	w.await("the Jobs that are changed run", func() bool {
		for _, name := range []string{"scaled", "suspended", "deleted", "hurt"} {
			if j := w.job(name); j == nil || j.Status.Active == 0 {
				return false
			}
		}
		return true
	})
	w.patch("scaled", `{"spec":{"parallelism":1}}`)
	w.patch("suspended", `{"spec":{"suspend":true}}`)
	background := metav1.DeletePropagationBackground
	if err := shared.Admin.BatchV1().Jobs(w.namespace).Delete(w.ctx, "deleted", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		w.t.Fatal(err)
	}
	pods, err := shared.Admin.CoreV1().Pods(w.namespace).List(w.ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=hurt"})
	if err != nil || len(pods.Items) == 0 {
		w.t.Fatal(err, len(pods.Items))
	}
	if err := shared.Admin.CoreV1().Pods(w.namespace).Delete(w.ctx, pods.Items[0].Name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.await("the suspended Job is", func() bool { j := w.job("suspended"); return j != nil && j.Status.Active == 0 })
	w.patch("suspended", `{"spec":{"suspend":false}}`)
}

func (w *place) patch(name, patch string) {
	w.t.Helper()
	_, err := shared.Admin.BatchV1().Jobs(w.namespace).Patch(w.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// makeUp writes a failure into the status of a Job without a failure.
func (w *place) makeUp(name string) {
	w.t.Helper()
	j := w.job(name)
	now := metav1.Now()
	j.Status.StartTime = &now
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonBackoffLimitExceeded, Message: "so they say",
			LastTransitionTime: now, LastProbeTime: now,
		})
	}
	if _, err := shared.Admin.BatchV1().Jobs(w.namespace).UpdateStatus(w.ctx, j, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// differences returns the differences in the log, each as "<Job> <steps>".
func (w *place) differences() []string {
	w.t.Helper()
	records, err := w.ours.Records(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	names := map[string]string{}
	var out []string
	for _, r := range records {
		if r.Name != "" && strings.HasPrefix(r.Kind, "Job") {
			names[r.Stream] = r.Name
		}
		switch r.Kind {
		case "WouldDecide":
			out = append(out, fmt.Sprintf("%s %s %s", names[r.Stream], r.Facts, r.Evidence))
		case "Decided", "CommandEnded", "TimerFired":
			w.t.Errorf("record %d is a %s in observe mode", r.Sequence, r.Kind)
		}
	}
	return out
}

// seen reports whether the log has the Job.
func (w *place) seen(job string) bool {
	w.t.Helper()
	records, err := w.ours.Records(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.ContainsFunc(records, func(r controller.Record) bool { return r.Kind == "JobAdded" && r.Name == job })
}

// recordedAll checks that the history has every Job from its creation on, and pods.
func (w *place) recordedAll(jobs []*batchv1.Job) {
	w.t.Helper()
	records, err := w.ours.Records(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	added, pods := map[string]bool{}, 0
	for _, r := range records {
		switch r.Kind {
		case "JobAdded":
			added[r.Name] = true
		case "PodAdded":
			pods++
		}
	}
	for _, j := range jobs {
		if !added[j.Name] {
			w.t.Errorf("Job %s is not recorded", j.Name)
		}
	}
	if pods < len(jobs) {
		w.t.Errorf("%d pods are recorded, of %d Jobs", pods, len(jobs))
	}
}

// wroteNothing checks the API server's audit log and the controller's output: a forbidden write would be in both.
func (w *place) wroteNothing() {
	w.t.Helper()
	writes, err := shared.Writes()
	if err != nil {
		w.t.Fatal(err)
	}
	others := 0
	for _, x := range writes {
		if x.User == w.namespace {
			w.t.Errorf("it asked to %s %s %s", x.Verb, x.Resource, x.Name)
		}
		if x.User == builtin.User {
			others++
		}
	}
	if others == 0 {
		w.t.Error("the audit log has nothing of the built-in controller: it says nothing of ours either")
	}
	output, err := w.ours.Output()
	if err != nil || strings.Contains(output, "forbidden") || strings.Contains(output, "panic:") {
		w.t.Errorf("%v; it said what it should not:\n%s", err, output)
	}
}

// option changes a Job before it is created.
type option func(*batchv1.Job)

func with(change func(*batchv1.Job)) option { return change }

func annotate(key, value string) option {
	return func(j *batchv1.Job) { j.Spec.Template.Annotations[key] = value }
}

// newJob returns a Job that is not delegated, with one pod that succeeds after a while.
func newJob(name string, options ...option) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{controlplane.AnnotationRunFor: "1s"}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "any"}},
			},
		}},
	}
	for _, o := range options {
		o(j)
	}
	return j
}

// mix is Jobs of many kinds.
func mix() []*batchv1.Job {
	size := func(completions, parallelism int32) option {
		return func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism }
	}
	indexed := with(func(j *batchv1.Job) { j.Spec.CompletionMode = new(batchv1.IndexedCompletion) })
	limit := func(n int32) option { return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n } }
	fails := annotate(controlplane.AnnotationOutcome, controlplane.OutcomeFail)
	runs := annotate(controlplane.AnnotationOutcome, controlplane.OutcomeRun)
	slow := annotate(controlplane.AnnotationRunFor, "8s")
	noEnd := with(func(j *batchv1.Job) { j.Labels["ends"] = "no" })
	return []*batchv1.Job{
		newJob("plain"),
		newJob("fixed", size(6, 2)),
		newJob("queue", with(func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(3)) })),
		newJob("indexed", indexed, size(8, 3)),
		newJob("fails", fails, limit(1)),
		newJob("restarts", fails, limit(2), with(func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })),
		newJob("late", runs, size(2, 2), with(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(5)) })),
		newJob("per-index", indexed, size(4, 4), annotate(controlplane.AnnotationFailIndexes, "1"), with(func(j *batchv1.Job) {
			j.Spec.BackoffLimitPerIndex = new(int32(1))
		})),
		newJob("policy", fails, with(func(j *batchv1.Job) {
			j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{77},
				},
			}}}
		})),
		newJob("success", indexed, size(6, 6), slow, with(func(j *batchv1.Job) {
			j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(2))}}}
		})),
		newJob("waits", with(func(j *batchv1.Job) { j.Spec.Suspend = new(true) }), noEnd),
		newJob("forever", runs, size(3, 3), noEnd),
		newJob("scaled", slow, size(6, 4)),
		newJob("suspended", slow, size(3, 3)),
		newJob("deleted", runs, size(3, 3)),
		newJob("hurt", slow, size(3, 3)),
	}
}

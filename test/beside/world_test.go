package beside

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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// world is the namespace of a scenario, in which a Jobledger runs.
type world struct {
	t         *testing.T
	mode      mode
	namespace string // also the name of Jobledger's user
	objects   dynamic.Interface
	ours      *controller.Controller
	history   *history.History
}

func newWorld(t *testing.T, m mode) *world {
	t.Helper()
	w := &world{t: t, mode: m}
	var err error
	w.objects, err = dynamic.NewForConfig(shared.RESTConfig())
	w.must(err)
	w.namespace, err = shared.CreateNamespace(t.Context(), "beside")
	w.must(err)
	dir, err := os.MkdirTemp("", "jobledger-"+w.namespace+"-") //nolint:usetesting // kept after a failure
	w.must(err)
	kubeconfig, err := controller.NewUser(t.Context(), shared.ControlPlane, w.namespace, w.namespace, dir)
	w.must(err)
	if m.manage == "all" {
		w.must(controller.GrantTTL(t.Context(), shared.ControlPlane, w.namespace, w.namespace))
		w.must(controller.GrantCronJobs(t.Context(), shared.ControlPlane, w.namespace, w.namespace))
	}
	watching, end := context.WithCancel(context.Background())
	w.history, err = history.Watch(watching, shared.Admin, w.namespace)
	if err != nil {
		end()
		t.Fatal(err)
	}
	w.ours = controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Namespace: w.namespace, Dir: dir, Manage: m.manage,
	})
	t.Cleanup(func() {
		w.judge()
		end()
		w.history.Wait()
		if t.Failed() {
			t.Logf("the log and the output of jobledger are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	w.must(w.ours.Start(ctx))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// judge checks the rules for the end of every scenario.
func (w *world) judge() {
	ctx, cancel := patience.Context(context.Background())
	defer cancel()
	if !w.t.Failed() {
		if err := w.history.Await(ctx, untracked); err != nil {
			w.t.Errorf("at the end: %v", err)
		}
	}
	if err := w.ours.Stop(ctx); err != nil {
		w.t.Error(err)
	}
	if err := w.ours.Check(ctx); err != nil {
		w.t.Errorf("at the end: %v", err)
	}
	if refused, err := shared.Forbidden(w.namespace); err != nil || len(refused) > 0 {
		w.t.Errorf("jobledger asked for what it may not do: %v %v", refused, err)
	}
	text, err := w.ours.Output()
	if err != nil {
		w.t.Error(err)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, `err="context canceled"`) {
			continue // client-go logs an error when a stop interrupts the reading of an answer
		}
		for _, never := range []string{"level=ERROR", "panic:", "DATA RACE", "forbidden"} {
			if strings.Contains(line, never) {
				w.t.Errorf("jobledger wrote: %s", line)
			}
		}
	}
	book := ledger.Read(ledger.Config{Builtin: w.mode.builtin}, w.history.Changes())
	if found := book.Violations(); len(found) > 0 {
		w.t.Error(ledger.Explain(found, w.history))
	}
}

// untracked returns which pods still have a tracking finalizer.
func untracked(n history.Now) string {
	var left []string
	for _, pod := range n.Pods {
		if ledger.Tracked(pod) {
			left = append(left, "pod "+pod.Name+" keeps its finalizer")
		}
	}
	return strings.Join(left, "; ")
}

// eventually polls until missing returns nothing. An error of missing is final.
func (w *world) eventually(what string, missing func() (string, error)) {
	w.t.Helper()
	ctx, cancel := patience.Context(w.t.Context())
	defer cancel()
	ctx, done := w.ours.While(ctx)
	defer done()
	var still string
	err := patience.Until(ctx, 50*time.Millisecond, nil, func() (bool, error) {
		var err error
		still, err = missing()
		return still == "", err
	})
	if err != nil {
		w.t.Fatalf("%s: %v: %s", what, err, still)
	}
}

// newJob returns a Job with pods that run until end is called.
func (w *world) newJob(name string, pods int32, cpu string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy: w.mode.managedBy, Parallelism: &pods, Completions: &pods, BackoffLimit: new(int32(0)),
			CompletionMode: new(batchv1.IndexedCompletion),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{controlplane.AnnotationOutcome: controlplane.OutcomeRun}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers: []corev1.Container{{
						Name: "main", Image: "busybox:1.37",
						Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity(cpu)}},
					}},
				},
			},
		},
	}
}

func (w *world) create(job *batchv1.Job) *batchv1.Job {
	w.t.Helper()
	made, err := shared.Admin.BatchV1().Jobs(w.namespace).Create(w.t.Context(), job, metav1.CreateOptions{FieldValidation: "Strict"})
	w.must(err)
	return made
}

// job returns the Job of that name; nil: there is none.
func (w *world) job(name string) *batchv1.Job {
	w.t.Helper()
	job, err := shared.Admin.BatchV1().Jobs(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.must(err)
	return job
}

// pods returns the pods of a Job.
func (w *world) pods(job string) []corev1.Pod {
	w.t.Helper()
	list, err := shared.Admin.CoreV1().Pods(w.namespace).List(w.t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	w.must(err)
	return list.Items
}

// run waits until exactly so many pods of a Job run, on the nodes of a pool. The status must say so, too.
func (w *world) run(name string, pods int, pool string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d pods of %s run on %q", pods, name, pool), func() (string, error) {
		live := 0
		for _, p := range w.pods(name) {
			if p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning {
				continue
			}
			live++
			if p.Spec.NodeSelector["pool"] != pool || pool != "" && p.Spec.NodeName != pool+"-0" {
				return "", fmt.Errorf("pod %s selects nodes by %v and runs on %s", p.Name, p.Spec.NodeSelector, p.Spec.NodeName)
			}
		}
		job := w.job(name)
		if job == nil {
			return "there is no Job " + name, nil
		}
		if s := job.Status; live != pods || s.Active != int32(pods) || s.Ready == nil || *s.Ready != int32(pods) || s.StartTime == nil {
			return fmt.Sprintf("%d run; the status is %+v", live, s), nil
		}
		return "", nil
	})
}

// end makes the running pods of a Job end with an outcome.
func (w *world) end(job string, outcome controlplane.Outcome) {
	w.t.Helper()
	n := 0
	for _, p := range w.pods(job) {
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			continue
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, controlplane.AnnotationOutcome, outcome)
		_, err := shared.Admin.CoreV1().Pods(w.namespace).Patch(w.t.Context(), p.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		w.must(err)
		n++
	}
	if n == 0 {
		w.t.Fatalf("no pod of %s runs that could end", job)
	}
}

func condition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
	if i < 0 {
		return nil
	}
	return &job.Status.Conditions[i]
}

// suspended waits until the status of a Job says that it is suspended without active pods, and no pod exists any more.
func (w *world) suspended(name string) {
	w.t.Helper()
	w.eventually("Job "+name+" is suspended", func() (string, error) {
		job := w.job(name)
		if job == nil {
			return "there is no Job " + name, nil
		}
		pods := w.pods(name)
		s := job.Status
		if condition(job, batchv1.JobSuspended) == nil || s.Active != 0 || len(pods) > 0 || s.Terminating != nil && *s.Terminating != 0 {
			return fmt.Sprintf("%d pods are there; suspend is %t, the status %+v", len(pods), *job.Spec.Suspend, s), nil
		}
		if s.Failed != 0 || s.Succeeded != 0 {
			return "", fmt.Errorf("%d have failed and %d succeeded", s.Failed, s.Succeeded)
		}
		return "", nil
	})
}

// complete waits until a Job is complete, with so many succeeded pods and no failed one, and until our log says so,
// too.
func (w *world) complete(name string, succeeded int32) {
	w.t.Helper()
	w.eventually("Job "+name+" is complete", func() (string, error) {
		job := w.job(name)
		if job == nil {
			return "", fmt.Errorf("there is no Job %s", name)
		}
		if c := condition(job, batchv1.JobFailed); c != nil {
			return "", fmt.Errorf("it failed: %s %s", c.Reason, c.Message)
		}
		if condition(job, batchv1.JobComplete) == nil {
			return fmt.Sprintf("%+v", job.Status), nil
		}
		s := job.Status
		if s.Succeeded != succeeded || s.Failed != 0 || s.Active != 0 || s.CompletionTime == nil || s.StartTime == nil || s.UncountedTerminatedPods != nil &&
			len(s.UncountedTerminatedPods.Succeeded)+len(s.UncountedTerminatedPods.Failed) > 0 {
			return "", fmt.Errorf("the status is %+v, want %d succeeded and nothing else", s, succeeded)
		}
		return "", nil
	})
	w.logged(name, "Complete", succeeded)
}

// logged checks what our log says about a Job of ours.
func (w *world) logged(name, state string, succeeded int32) {
	w.t.Helper()
	w.eventually("the log says what became of Job "+name, func() (string, error) {
		job, err := w.ours.Job(w.t.Context(), name)
		if err != nil {
			return "", err
		}
		if c := job.Counts; job.State != state || c.Succeeded != succeeded || c.Failed != 0 || c.Active != 0 || len(job.InFlight) > 0 || len(job.Refused) > 0 {
			return fmt.Sprintf("%+v", job), nil
		}
		return "", nil
	})
}

// explains checks that 'jobledger explain' about a Job has each of these texts.
func (w *world) explains(job string, texts ...string) {
	w.t.Helper()
	w.eventually("explain says why", func() (string, error) {
		said, err := w.ours.CLI(w.t.Context(), "explain", "job/"+job, "-n", w.namespace)
		if err != nil {
			return "", err
		}
		flat := strings.Join(strings.Fields(said), " ") // lines are broken anywhere
		for _, text := range texts {
			if !strings.Contains(flat, text) {
				return fmt.Sprintf("it does not say %q:\n%s", text, said), nil
			}
		}
		return "", nil
	})
}

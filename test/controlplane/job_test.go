package controlplane_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/binaries"
	"github.com/jobledger/jobledger/test/controlplane"
)

// world is a control plane with the built-in batch controllers, shared by the tests of this file, and a namespace for
// one test.
type world struct {
	cp        *controlplane.ControlPlane
	client    kubernetes.Interface
	namespace string
}

var shared *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(func() int {
		cp, err := controlplane.Start(context.Background(), controlplane.Options{BuiltinBatch: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		shared = cp
		status := m.Run()
		if status != 0 {
			cp.KeepData()
			fmt.Fprintln(os.Stderr, "The logs of the control plane are in", cp.LogDir())
		}
		if err := cp.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return status
	}())
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{cp: shared}
	var err error
	if w.client, err = kubernetes.NewForConfig(shared.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	if w.namespace, err = shared.CreateNamespace(t.Context(), "smoke"); err != nil {
		t.Fatal(err)
	}
	return w
}

// eventually polls until done reports true.
func eventually(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func newJob(name string, annotations map[string]string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "any"}},
				},
			},
		},
	}
}

func (w *world) create(t *testing.T, job *batchv1.Job) {
	t.Helper()
	if _, err := w.client.BatchV1().Jobs(w.namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// finished waits until the Job has the condition and returns it.
func (w *world) finished(t *testing.T, name string, condition batchv1.JobConditionType) *batchv1.Job {
	t.Helper()
	var job *batchv1.Job
	eventually(t, "Job "+name+" becomes "+string(condition), func() (ok bool, err error) {
		job, err = w.client.BatchV1().Jobs(w.namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range job.Status.Conditions {
			ok = ok || c.Type == condition && c.Status == corev1.ConditionTrue
		}
		return ok, nil
	})
	return job
}

func (w *world) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	list, err := w.client.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestJobCompletes(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	w.create(t, newJob("good", nil))
	job := w.finished(t, "good", batchv1.JobComplete)
	t.Logf("a one-pod Job was Complete after %s", time.Since(began).Round(time.Millisecond))
	if job.Status.Succeeded != 1 {
		t.Errorf("succeeded = %d, want 1", job.Status.Succeeded)
	}
	for _, pod := range w.pods(t) {
		end := pod.Status.ContainerStatuses[0].State.Terminated
		if pod.Status.Phase != corev1.PodSucceeded || end == nil || end.ExitCode != 0 || end.FinishedAt.IsZero() {
			t.Errorf("pod ended as %+v", pod.Status)
		}
		if pod.Spec.NodeName != "node-0" {
			t.Errorf("pod ran on %q, want node-0", pod.Spec.NodeName)
		}
	}
}

func TestJobFailsWithTheExitCodeAskedFor(t *testing.T) {
	w := newWorld(t)
	w.create(t, newJob("bad", map[string]string{
		controlplane.AnnotationOutcome:  controlplane.OutcomeFail,
		controlplane.AnnotationExitCode: "3",
	}))
	job := w.finished(t, "bad", batchv1.JobFailed)
	if job.Status.Failed != 1 {
		t.Errorf("failed = %d, want 1", job.Status.Failed)
	}
	pods := w.pods(t)
	if len(pods) != 1 {
		t.Fatalf("%d pods, want 1", len(pods))
	}
	end := pods[0].Status.ContainerStatuses[0].State.Terminated
	if pods[0].Status.Phase != corev1.PodFailed || end == nil || end.ExitCode != 3 || end.FinishedAt.IsZero() {
		t.Errorf("pod ended as %+v", pods[0].Status)
	}
}

func TestOnlyTheListedIndexesFail(t *testing.T) {
	w := newWorld(t)
	job := newJob("indexed", map[string]string{controlplane.AnnotationFailIndexes: "1, 3"})
	job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	job.Spec.Completions, job.Spec.Parallelism = new(int32(5)), new(int32(5))
	job.Spec.BackoffLimit, job.Spec.BackoffLimitPerIndex = nil, new(int32(0))
	w.create(t, job)
	job = w.finished(t, "indexed", batchv1.JobFailed)
	if job.Status.CompletedIndexes != "0,2,4" || *job.Status.FailedIndexes != "1,3" {
		t.Errorf("completed %q and failed %q, want 0,2,4 and 1,3", job.Status.CompletedIndexes, *job.Status.FailedIndexes)
	}
}

func TestPodRunsForTheTimeAskedFor(t *testing.T) {
	w := newWorld(t)
	w.create(t, newJob("slow", map[string]string{controlplane.AnnotationRunFor: "5s"}))
	var ready bool
	eventually(t, "the pod becomes Ready", func() (bool, error) {
		job, err := w.client.BatchV1().Jobs(w.namespace).Get(t.Context(), "slow", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ready = job.Status.Ready != nil && *job.Status.Ready == 1
		return ready || job.Status.Succeeded > 0, nil
	})
	if !ready {
		t.Error("the pod succeeded before it was Ready")
	}
	w.finished(t, "slow", batchv1.JobComplete)
	end := w.pods(t)[0].Status.ContainerStatuses[0].State.Terminated
	if ran := end.FinishedAt.Sub(end.StartedAt.Time); ran < 4*time.Second {
		t.Errorf("the pod ran for %s, want 5s (to the second) or more", ran)
	}
}

func TestContainersRestartWhenThePolicySaysSo(t *testing.T) {
	w := newWorld(t)
	job := newJob("restarting", map[string]string{
		controlplane.AnnotationOutcome: controlplane.OutcomeFail,
		controlplane.AnnotationRunFor:  "100ms",
	})
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	job.Spec.BackoffLimit = new(int32(2))
	w.create(t, job)
	w.finished(t, "restarting", batchv1.JobFailed)
}

func TestDeletedPodEndsAndStaysForItsFinalizer(t *testing.T) {
	w := newWorld(t)
	pods := w.client.CoreV1().Pods(w.namespace)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "kept",
			Finalizers:  []string{"example.com/keep"},
			Annotations: map[string]string{controlplane.AnnotationOutcome: controlplane.OutcomeRun},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "any"}}},
	}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod runs", func() (bool, error) {
		got, err := pods.Get(t.Context(), "kept", metav1.GetOptions{})
		return err == nil && got.Status.Phase == corev1.PodRunning, err
	})
	if err := pods.Delete(t.Context(), "kept", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node lets go of the pod", func() (bool, error) {
		got, err := pods.Get(t.Context(), "kept", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		grace := got.DeletionGracePeriodSeconds
		return got.Status.Phase == corev1.PodFailed && grace != nil && *grace == 0, nil
	})
	if _, err := pods.Patch(t.Context(), "kept", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod is gone", func() (bool, error) {
		_, err := pods.Get(t.Context(), "kept", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

func TestDeletedJobTakesItsPodsWithIt(t *testing.T) {
	w := newWorld(t)
	w.create(t, newJob("doomed", map[string]string{controlplane.AnnotationOutcome: controlplane.OutcomeRun}))
	eventually(t, "the pod runs", func() (bool, error) {
		pods := w.pods(t)
		return len(pods) == 1 && pods[0].Status.Phase == corev1.PodRunning, nil
	})
	background := metav1.DeletePropagationBackground
	err := w.client.BatchV1().Jobs(w.namespace).Delete(t.Context(), "doomed", metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod is gone", func() (bool, error) { return len(w.pods(t)) == 0, nil })
}

func TestWritesAreCountedByUser(t *testing.T) {
	w := newWorld(t)
	const user = "counted"
	config, err := w.cp.UserConfig(user)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	secrets := client.CoreV1().Secrets(w.namespace)
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("a user without rights created a Secret: %v", err)
	}
	if err := w.cp.Bind(t.Context(), user, "edit"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the right is in force", func() (bool, error) {
		_, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, nil
	})
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := secrets.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := secrets.Delete(t.Context(), "s", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	want := map[controlplane.WriteKind]int{
		{User: user, Verb: "update", Resource: "secrets"}: 2,
		{User: user, Verb: "delete", Resource: "secrets"}: 1,
	}
	eventually(t, "the audit log has the delete", func() (bool, error) {
		got, err := w.cp.CountWrites(func(x controlplane.Write) bool { return x.User == user && x.Code < 300 })
		delete(got, controlplane.WriteKind{User: user, Verb: "create", Resource: "secrets"}) // attempts, refused and allowed
		return maps.Equal(got, want), err
	})
	refused, err := w.cp.CountWrites(func(x controlplane.Write) bool { return x.User == user && x.Code == 403 })
	if err != nil {
		t.Fatal(err)
	}
	if refused[controlplane.WriteKind{User: user, Verb: "create", Resource: "secrets"}] == 0 {
		t.Errorf("the refused create was not counted: %v", refused)
	}
}

func TestServiceAccountIsKnownByItsName(t *testing.T) {
	w := newWorld(t)
	config, err := w.cp.ServiceAccountConfig(t.Context(), w.namespace, "default")
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	user := "system:serviceaccount:" + w.namespace + ":default"
	if err := w.cp.Bind(t.Context(), user, "view"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ServiceAccount may list pods", func() (bool, error) {
		_, err := client.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil, nil
	})
}

func TestStopLeavesNoProcessAndNoFile(t *testing.T) {
	dir := t.TempDir() + "/data"
	cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	pids := cp.PIDs()
	if len(pids) != 5 {
		t.Errorf("%d processes run, want 5", len(pids))
	}
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(-pid, 0); err != syscall.ESRCH {
			t.Errorf("the group of process %d is still there: %v", pid, err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data is still there: %v", err)
	}
	if err := cp.Stop(); err != nil {
		t.Errorf("second Stop = %v", err)
	}
}

func TestAComponentThatDiesIsReported(t *testing.T) {
	cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	pids := cp.PIDs()
	if err := syscall.Kill(pids[len(pids)-1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-cp.Done()
	if cp.Err() == nil {
		t.Error("Err is nil after kwok died")
	}
	if err := cp.Stop(); err == nil {
		t.Error("Stop does not say that kwok died")
	}
	if _, err := os.Stat(cp.LogDir()); err != nil {
		t.Errorf("the logs were not kept: %v", err)
	}
}

func TestTheStateSurvivesAnOutage(t *testing.T) {
	for _, component := range []string{binaries.APIServer, binaries.Etcd} {
		t.Run(component, func(t *testing.T) {
			cp := controlplane.ForTest(t, controlplane.Options{})
			client, err := kubernetes.NewForConfig(cp.RESTConfig())
			if err != nil {
				t.Fatal(err)
			}
			before, err := cp.CreateNamespace(t.Context(), "before")
			if err != nil {
				t.Fatal(err)
			}
			if err := cp.Interrupt(component); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "meanwhile"}}
			if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err == nil {
				t.Errorf("a namespace was created without %s", component)
			}
			if err := cp.Resume(t.Context(), component); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the namespace is there after the outage", func() (bool, error) {
				_, err := client.CoreV1().Namespaces().Get(t.Context(), before, metav1.GetOptions{})
				return err == nil, nil
			})
			if _, err := cp.CreateNamespace(t.Context(), "after"); err != nil {
				t.Errorf("the controllers did not come back: %v", err)
			}
			if err := cp.Err(); err != nil {
				t.Errorf("an interruption counts as a failure: %v", err)
			}
		})
	}
}

package uninstall

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/console"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/dump"
)

// O-063: after docs/uninstall.md no finalizer of ours is left.
//
// TestNothingIsLeft runs docs/uninstall.md and compares the cluster with the one before: only the created Jobs, their
// pods and Events are new.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.namespace("batch")
	soon, cancel := patience.Context(t.Context())
	defer cancel()
	before, err := dump.Settle(soon, c.cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}

	for _, line := range []string{ // as docs/handover.md says
		"kubectl apply -k deploy", "kubectl apply -f deploy/policy/mutating.yaml", "kubectl label namespace batch jobledger.dev/jobs=all",
	} {
		if out, code := c.sh(line); code != 0 {
			t.Fatal(out)
		}
	}
	c.sync()
	c.job("batch", "nightly", false, nil)
	c.job("batch", "paused", true, nil)
	c.awaitJob("batch", "nightly", batchv1.JobComplete)
	c.awaitJob("batch", "paused", batchv1.JobSuspended)
	c.job("batch", "report", false, map[string]string{controlplane.AnnotationRunFor: "20s"})
	c.awaitRunning("batch", "report")
	if lines := c.since(before); len(lines) < 15 {
		t.Fatalf("installed, the cluster differs in no more than\n%s", strings.Join(lines, "\n"))
	}

	text, err := os.ReadFile(filepath.Join(c.root, "docs", "uninstall.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps := console.Exchanges(string(text))
	if len(steps) != 9 {
		t.Fatalf("docs/uninstall.md shows %d commands", len(steps))
	}
	for _, x := range steps {
		out, code := c.sh(x.Command)
		if code != 0 {
			t.Fatalf("$ %s: exit code %d\n%s", x.Command, code, out)
		}
		compare(t, x, out)
		c.sync()
		if strings.Contains(x.Command, "--drain") {
			c.job("batch", "late", false, nil)
		}
	}
	if job, err := c.client.BatchV1().Jobs("batch").Get(t.Context(), "late", metav1.GetOptions{}); err != nil || begun(job) {
		t.Errorf("a Job that was created during the drain: %v, %+v", err, job.Status)
	}
	c.awaitJob("batch", "report", batchv1.JobComplete)

	allowed := regexp.MustCompile(`^\+ (jobs\.batch batch/(nightly|paused|report|late)|pods\. batch/(nightly|report)-[a-z0-9]{5})$`)
	c.await("the cluster to be as it was", func() error {
		left := slices.DeleteFunc(c.since(before), allowed.MatchString)
		if len(left) > 0 {
			return errors.New(strings.Join(left, "\n"))
		}
		return nil
	})
	pods, err := c.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 2 {
		t.Errorf("%d pods, %v", len(pods.Items), err)
	}
	for i := range pods.Items {
		if len(pods.Items[i].Finalizers) > 0 {
			t.Errorf("%s has finalizers %v", pods.Items[i].Name, pods.Items[i].Finalizers)
		}
	}
}

// since returns how the cluster differs from before.
func (c *cluster) since(before dump.Dump) []string {
	c.t.Helper()
	now, err := dump.Of(c.t.Context(), c.cp.RESTConfig())
	if err != nil {
		c.t.Fatal(err)
	}
	return now.Since(before)
}

func begun(job *batchv1.Job) bool {
	return job.Status.StartTime != nil || len(job.Status.Conditions) > 0
}

// compare reports a difference between the output in the document and that of the command.
func compare(t *testing.T, x console.Exchange, out string) {
	t.Helper()
	if !x.SaysOfRelease(out) {
		t.Errorf("$ %s\ndocs/uninstall.md shows\n%s\nand it writes\n%s", x.Command, strings.Join(x.Output, "\n"), out)
	}
}

// O-063: if the controller is gone, pods with our finalizer, and the namespace that waits for them, are freed.
//
// TestNothingHangsAfterLettingGo: a controller was killed. A deleted namespace waits for a pod that only our finalizer
// holds, and the namespace controller retries again and again. "release --let-go" frees the pod; running pods go on.
// While the controller runs, it refuses.
func TestNothingHangsAfterLettingGo(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.namespace("gone")
	c.namespace("kept")
	if out, code := c.sh("kubectl apply -k deploy"); code != 0 {
		t.Fatal(out)
	}
	c.sync()
	forever := map[string]string{controlplane.AnnotationOutcome: controlplane.OutcomeRun}
	c.job("gone", "stuck", false, forever)
	c.job("kept", "running", false, forever)
	stuck, running := c.awaitRunning("gone", "stuck"), c.awaitRunning("kept", "running")
	if out, code := c.sh("jobledger release --let-go"); code != 1 || !strings.Contains(out, "a controller runs: ") {
		t.Errorf("beside a controller: exit code %d\n%s", code, out)
	}

	if err := c.now.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.client.CoreV1().Namespaces().Delete(t.Context(), "gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await("the pod to be held by our finalizer alone", func() error {
		pod, err := c.client.CoreV1().Pods("gone").Get(t.Context(), stuck.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		grace := pod.DeletionGracePeriodSeconds // 0 once its node has released it
		if grace == nil || *grace != 0 || !slices.Equal(pod.Finalizers, []string{events.TrackingFinalizer}) {
			return fmt.Errorf("grace %v, finalizers %v, %s", grace, pod.Finalizers, pod.Status.Phase)
		}
		return nil
	})
	held := time.Now()
	c.await("the namespace controller to try again", func() error {
		tries, err := c.cp.CountWrites(func(x controlplane.Write) bool {
			return x.Namespace == "gone" && x.Verb == "deletecollection" && x.Resource == "pods" && x.At.After(held)
		})
		if err == nil && len(tries) == 0 {
			err = errors.New("it has not")
		}
		return err
	})
	if namespace, err := c.client.CoreV1().Namespaces().Get(t.Context(), "gone", metav1.GetOptions{}); err != nil || namespace.DeletionTimestamp == nil {
		t.Fatalf("the namespace does not hang: %v", err)
	}

	dry, code := c.sh("jobledger release --dry-run")
	for _, pod := range []string{stuck.Name, running.Name} {
		if code != 0 || !strings.Contains(dry, "pod/"+pod) {
			t.Errorf("a dry run does not name %s", pod)
		}
	}
	out, code := c.sh("jobledger release --let-go")
	if code != 0 || !strings.Contains(out, "job/running") || !strings.Contains(out, "waiting up to 15s") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	c.await("the namespace to go", func() error {
		namespaces, err := c.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=gone"})
		if err == nil && len(namespaces.Items) > 0 {
			err = errors.New("it is there")
		}
		return err
	})
	pod, err := c.client.CoreV1().Pods("kept").Get(t.Context(), running.Name, metav1.GetOptions{})
	if err != nil || len(pod.Finalizers) > 0 || pod.DeletionTimestamp != nil || pod.Status.Phase != "Running" {
		t.Errorf("the pod of a Job that was dropped: %v, finalizers %v, %s", err, pod.Finalizers, pod.Status.Phase)
	}
	if out, code := c.sh("jobledger release --let-go"); code != 0 || !strings.Contains(out, "0 pods with a finalizer, 1 unmanaged Job, 0 Leases") {
		t.Errorf("again: exit code %d\n%s", code, out)
	}
}

// TestDrainByHand: without a cluster to run in, "release --drain" runs in place of "run". It ends when the Jobs that
// have begun are finished, and deletes the Lease. The log has the drain, and replays.
func TestDrainByHand(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.namespace("batch")
	flags := " --log " + filepath.Join(c.dir, "log") + " --kubeconfig " + c.cp.Kubeconfig() + " --listen= --log-format=text" +
		" --leader-elect --leader-elect-resource-namespace=kube-system"
	before := controller.New(controller.Config{
		Program: filepath.Join(bin, "jobledger"), Kubeconfig: c.cp.Kubeconfig(), Dir: c.dir,
		Args: []string{"--leader-elect", "--leader-elect-resource-namespace=kube-system"},
	})
	t.Cleanup(func() { _ = before.Kill() })
	if err := before.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.job("batch", "short", false, map[string]string{controlplane.AnnotationRunFor: "10s"})
	c.awaitRunning("batch", "short")
	if err := before.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.job("batch", "late", false, nil)

	out, code := c.sh("jobledger release --drain" + flags)
	for _, line := range []string{
		"draining: a Job that has not begun is not taken", "jobs=[batch/short]", "drained: nothing is left to do",
		"job/late         left unmanaged", "lease/jobledger  delete          done",
	} {
		if code != 0 || !strings.Contains(out, line) {
			t.Errorf("exit code %d, and no %q", code, line)
		}
	}
	c.awaitJob("batch", "short", batchv1.JobComplete)
	if out, code := c.sh("jobledger replay --log " + before.Log()); code != 0 || !strings.Contains(out, ", 0 divergences") {
		t.Error(out)
	}
	if out, _ := c.sh("jobledger events --kind ControllerStarted -o wide --log " + before.Log()); strings.Count(out, "--drain") != 1 {
		t.Error(out)
	}
	if out, _ := c.sh("jobledger get jobs --log " + before.Log()); strings.Contains(out, "late") {
		t.Errorf("the log knows the Job that was not taken:\n%s", out)
	}
}

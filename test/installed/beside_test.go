//go:build linux

package installed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/node"
)

// team is the namespace of the Jobs of two controllers.
const team = "team-a"

// second is a second installation, beside a working one.
type second struct {
	sentence string
	jobs     int
	// start installs it, and returns the namespace and the pod. Without a pod it returns a function that waits for the
	// end and returns the output.
	start func(*besides) (namespace, pod string, end func() string)
	says  string
	waits bool // it does not end; it takes over after the first is removed
}

// heldBy is the message of a controller beside one with another log.
const heldBy = "the Lease jobledger/jobledger is held by"

var seconds = []second{
	{sentence: "the chart in a second namespace", jobs: 56, start: chartTwice(""), says: heldBy},
	{sentence: "the overlay of one namespace", jobs: 56, start: overlayBeside, says: heldBy},
	{sentence: "a kubeconfig from outside", jobs: 56, start: fromOutside, says: "there is no log in"},
	{sentence: "three replicas", jobs: 8, start: replicas, says: heldBy},
	{
		sentence: "the chart twice with --adopt", jobs: 8, start: chartTwice("extraArgs: [--adopt]\n"),
		says: "another controller holds the Lease: waiting", waits: true,
	},
}

// besides is a cluster with a working installation and a second one.
type besides struct {
	*testing.T
	client kubernetes.Interface
	alpha  *release
}

// TestASecondInstallation: beside a working installation, the second one refuses to run or waits, says why, and is
// never ready. The first goes on, and each Job has the pods that it asks for, and counts them. The kubelet probes both.
func TestASecondInstallation(t *testing.T) {
	node.Need(t)
	client, err := kubernetes.NewForConfig(plane.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range seconds {
		t.Run(row.sentence, func(t *testing.T) {
			b := &besides{T: t, client: client}
			sh(t, "kubectl create namespace "+team)
			t.Cleanup(func() {
				if t.Failed() { // no controller runs, and pods may wait for one
					lastly(t, "jobledger release --let-go || true")
				}
				lastly(t, "kubectl delete namespace "+team+" --timeout=180s")
			})
			b.alpha = newRelease(t, "alpha")
			b.alpha.install("")
			b.alpha.ready()
			b.try(&row)
		})
	}
}

func (b *besides) try(row *second) {
	b.create(0, row.jobs/2)
	watched := map[string]*watcher{}
	for _, namespace := range []string{"alpha", "beta", "jobledger"} {
		watched[namespace] = watchPods(b.T, namespace)
	}
	namespace, pod, end := row.start(b)
	b.create(row.jobs/2, row.jobs)
	if end != nil {
		if said := end(); !strings.Contains(said, row.says) || strings.Contains(said, "msg=leading") {
			b.Errorf("it says\n%s\nwant %q", said, row.says)
		}
	} else {
		says(b.T, namespace, pod, row.says)
	}
	if row.waits {
		b.refusesProbes(namespace, pod)
	}
	b.right(row.jobs)
	for namespace, w := range watched {
		for name, ready := range w.end(b.T) {
			if ready != (namespace == "alpha" && name == b.alpha.pod()) {
				b.Errorf("the pod %s/%s was ready: %t", namespace, name, ready)
			}
		}
	}
	if n := b.alpha.restarts(); n != "0" {
		b.Errorf("the first was started again %s times", n)
	}
	if row.waits {
		b.takesOver(namespace, pod, row.jobs)
	}
}

// refusesProbes waits until the kubelet reports that a pod is not ready.
func (b *besides) refusesProbes(namespace, pod string) {
	b.Helper()
	eventually(b.T, "the kubelet says that "+pod+" is not ready", func() (bool, error) {
		list, err := b.client.CoreV1().Events(namespace).List(b.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == "Unhealthy" && strings.Contains(e.Message, "Readiness probe failed: HTTP probe failed with statuscode: 5")
		}), nil
	})
}

// takesOver removes the first one. The second becomes ready, and goes on with the Jobs.
func (b *besides) takesOver(namespace, pod string, jobs int) {
	b.Helper()
	sh(b.T, "kubectl -n alpha scale statefulset alpha --replicas=0")
	sh(b.T, "kubectl -n "+namespace+" wait --for=condition=Ready pod/"+pod+" --timeout=180s")
	b.create(jobs, 2*jobs)
	b.right(2 * jobs)
}

// create creates Jobs of two pods. Their names end with the numbers in [from, to).
func (b *besides) create(from, to int) {
	b.Helper()
	for i := from; i < to; i++ {
		two := int32(2)
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("job-%02d", i)},
			Spec: batchv1.JobSpec{
				ManagedBy: new(events.ManagedBy), Completions: &two, Parallelism: &two,
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy:                 corev1.RestartPolicyNever,
					TerminationGracePeriodSeconds: new(int64(1)),
					Containers:                    []corev1.Container{{Name: "main", Image: "busybox:1.37", Command: []string{"true"}}},
				}},
			},
		}
		if _, err := b.client.BatchV1().Jobs(team).Create(b.Context(), job, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// right waits until that many Jobs are complete, and compares each with its pods.
func (b *besides) right(jobs int) {
	b.Helper()
	var list *batchv1.JobList
	eventually(b.T, fmt.Sprintf("%d Jobs are complete", jobs), func() (bool, error) {
		var err error
		if list, err = b.client.BatchV1().Jobs(team).List(b.Context(), metav1.ListOptions{}); err != nil {
			return false, err
		}
		return len(list.Items) == jobs && !slices.ContainsFunc(list.Items, func(j batchv1.Job) bool { return !over(&j) }), nil
	})
	pods, err := b.client.CoreV1().Pods(team).List(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	wrong := 0
	for i := range list.Items {
		j, all, succeeded := &list.Items[i], 0, 0
		for k := range pods.Items {
			if p := &pods.Items[k]; metav1.IsControlledBy(p, j) {
				all++
				if p.Status.Phase == corev1.PodSucceeded {
					succeeded++
				}
			}
		}
		if all != 2 || succeeded != 2 || j.Status.Succeeded != 2 || j.Status.Failed != 0 || j.Status.Active != 0 {
			wrong++
			b.Errorf("%s: %d pods, %d succeeded; status %+v", j.Name, all, succeeded, j.Status)
		}
	}
	b.Logf("%d wrong Jobs of %d", wrong, jobs)
}

// over reports whether a Job has ended.
func over(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// chartTwice installs the chart as beta, in the way of docs/install.md for a second release.
func chartTwice(more string) func(*besides) (string, string, func() string) {
	return func(b *besides) (string, string, func() string) {
		beta := newRelease(b.T, "beta")
		beta.install(more + "lease: {createNamespace: false}\n")
		return beta.name, beta.pod(), nil
	}
}

// overlayBeside applies deploy/overlays/namespace, which is for the namespace of the Jobs.
func overlayBeside(b *besides) (string, string, func() string) {
	dir := copyOfRoot(b.T)
	sh(b.T, class)
	b.Cleanup(func() { lastly(b.T, "kubectl delete storageclass local") })
	newVolume(b.T, "jobledger", "log-jobledger-0", "10Gi")
	sh(b.T, "cd "+dir+"/deploy/overlays/namespace && kustomize edit set image jobledger=jobledger:"+imageTag+" && kubectl apply -k .")
	b.Cleanup(func() {
		lastly(b.T, "cd "+dir+" && kubectl delete -k deploy/overlays/namespace --ignore-not-found --timeout=180s")
	})
	return "jobledger", "jobledger-0", nil
}

// fromOutside runs the program as an administrator, with an empty log.
func fromOutside(b *besides) (string, string, func() string) {
	c := controller.New(controller.Config{Program: file("jobledger"), Kubeconfig: plane.Kubeconfig(), Dir: b.TempDir()})
	if err := c.Launch(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Kill() })
	return "", "", func() string {
		ctx, cancel := patience.Context(b.Context())
		defer cancel()
		if err := c.Ready(ctx); err == nil {
			b.Error("it is ready")
		}
		eventually(b.T, "it ends", func() (bool, error) { return !c.Running(), nil })
		if err := c.Failed(); err == nil || err.Error() != "exit status 1" {
			b.Errorf("it ended with %v", err)
		}
		text, err := c.Output()
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
}

// replicas scales up the first one. Each replica has its own volume, and so its own log.
func replicas(b *besides) (string, string, func() string) {
	newVolume(b.T, "alpha", "log-alpha-1", "1Gi")
	newVolume(b.T, "alpha", "log-alpha-2", "1Gi")
	sh(b.T, "kubectl -n alpha scale statefulset alpha --replicas=3")
	return "alpha", "alpha-1", nil
}

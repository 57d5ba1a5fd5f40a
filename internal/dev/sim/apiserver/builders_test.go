package apiserver

import (
	"context"
	"math/rand/v2"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/clock"
)

const fin = "jobledger.dev/job-tracking"

var ctx = context.Background()

func newServer(seed uint64) *Server {
	return New(Config{Clock: clock.New(start), Rand: rand.New(rand.NewPCG(seed, 0))})
}

func testJob(name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "work"}},
		}}},
	}
}

// podOf returns a pod as a Job controller makes it.
func podOf(job *batchv1.Job, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: name, Labels: job.Spec.Template.Labels, Finalizers: []string{fin},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
}

// world is a server with one Job, two of its pods, and a client.
type world struct {
	*Server
	*Client
	job  *batchv1.Job
	pods []*corev1.Pod
}

func newWorld(t *testing.T, pods ...string) world {
	t.Helper()
	s := newServer(1)
	w := world{Server: s, Client: s.Client("test")}
	w.job = must(w.CreateJob(ctx, testJob("demo")))(t)
	for _, name := range pods {
		w.pods = append(w.pods, must(w.CreatePod(ctx, podOf(w.job, name)))(t))
	}
	return w
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantErr checks an error with one of apimachinery's predicates.
func wantErr(t *testing.T, is func(error) bool, err error) {
	t.Helper()
	if !is(err) {
		t.Fatalf("unexpected answer: %v", err)
	}
}

func (w world) start(t *testing.T, name string) {
	t.Helper()
	ok(t, w.BindPod(ctx, "default", name, "", "node-0"))
	ok(t, w.UpdatePodStatus(ctx, "default", name, "", func(s *corev1.PodStatus) { s.Phase = corev1.PodRunning }))
}

func (w world) end(t *testing.T, name string, phase corev1.PodPhase) {
	t.Helper()
	ok(t, w.UpdatePodStatus(ctx, "default", name, "", func(s *corev1.PodStatus) { s.Phase = phase }))
}

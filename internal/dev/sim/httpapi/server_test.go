package httpapi_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/dev/sim/httpapi"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// serve serves a world with one Job, and returns a client that uses the given content type.
func serve(t *testing.T, contentType string) (kubernetes.Interface, *httpapi.Server) {
	t.Helper()
	w := world.New(world.Config{Kubelet: kubelet.Config{RunTime: kubelet.Range{Max: time.Millisecond}}})
	if _, err := w.Users.Create(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "job"}, Spec: batchv1.JobSpec{Template: template()}}); err != nil {
		t.Fatal(err)
	}
	return connect(t, httpapi.Config{World: w}, contentType)
}

// connect serves a world, and returns a client for it.
func connect(t *testing.T, cfg httpapi.Config, contentType string) (kubernetes.Interface, *httpapi.Server) {
	t.Helper()
	server := httpapi.New(cfg)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: contentType}})
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
	}}
}

func TestWhatAControllerAsks(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			client, _ := serve(t, contentType)
			ctx := t.Context()
			jobs, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
			if err != nil || len(jobs.Items) != 1 || jobs.ResourceVersion == "" {
				t.Fatalf("%d Jobs at %q: %v", len(jobs.Items), jobs.ResourceVersion, err)
			}
			job := &jobs.Items[0]
			pods := client.CoreV1().Pods("default")
			w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: jobs.ResourceVersion})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			await := func(kind watch.EventType, phase corev1.PodPhase) *corev1.Pod {
				t.Helper()
				for e := range w.ResultChan() {
					if pod, ok := e.Object.(*corev1.Pod); ok && e.Type == kind && (phase == "" || pod.Status.Phase == phase) {
						return pod
					}
				}
				t.Fatalf("the watch ended before a pod was %s %s", kind, phase)
				return nil
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Finalizers: []string{"a/b"}}, Spec: template().Spec}
			if pod, err = pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			await(watch.Modified, corev1.PodSucceeded) // the kubelet works by itself
			if _, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: template().Spec}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
				t.Errorf("the second of the name: %v", err)
			}
			found, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=q"})
			if err != nil || len(found.Items) != 0 {
				t.Errorf("a name that there is not: %d pods, %v", len(found.Items), err)
			}
			other := types.UID("another")
			err = pods.Delete(ctx, "p", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
			if !apierrors.IsConflict(err) {
				t.Errorf("a deletion of another UID: %v", err)
			}
			if err := pods.Delete(ctx, "p", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}); err != nil {
				t.Fatal(err)
			}
			patch := []byte(`{"metadata":{"uid":"` + string(pod.UID) + `","$deleteFromPrimitiveList/finalizers":["a/b"]}}`)
			if _, err := pods.Patch(ctx, "p", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			await(watch.Deleted, "")
			job.Status.StartTime, job.Status.Active = &metav1.Time{Time: time.Now()}, 1
			if job, err = client.BatchV1().Jobs("default").UpdateStatus(ctx, job, metav1.UpdateOptions{}); err != nil || job.Status.Active != 1 {
				t.Errorf("the status is written: %v", err)
			}
		})
	}
}

// TestAWatchMayBeginWithWhatThereIs: a watch may send the existing objects first, as client-go asks in place of a list.
func TestAWatchMayBeginWithWhatThereIs(t *testing.T) {
	client, _ := serve(t, "application/json")
	w, err := client.BatchV1().Jobs("").Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	first, second := <-w.ResultChan(), <-w.ResultChan()
	if first.Type != watch.Added || second.Type != watch.Bookmark || second.Object.(*batchv1.Job).Annotations[metav1.InitialEventsAnnotationKey] != "true" {
		t.Errorf("first %v, then %v", first, second)
	}
}

// TestAwaitEnds: Await returns once its condition holds.
func TestAwaitEnds(t *testing.T) {
	client, server := serve(t, "application/json")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: template().Spec}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := server.Await(t.Context(), func(w *world.World) bool { return w.Server.Pod("default", "p").Status.Phase == corev1.PodSucceeded }); err != nil {
		t.Error(err)
	}
}

package request

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// server speaks one media type, as an API server does. It answers a list with two pods, and a watch with those, a
// bookmark and an error.
func server(t *testing.T, mediaType string, pods ...corev1.Pod) kubernetes.Interface {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("client-go does not speak %s", mediaType)
	}
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	gone := apierrors.NewResourceExpired("too old").Status()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accept := r.Header.Get("Accept"); !strings.HasPrefix(accept, runtime.ContentTypeProtobuf) {
			t.Errorf("the client accepts %q", accept)
		}
		w.Header().Set("Content-Type", mediaType)
		query := r.URL.Query()
		var err error
		switch {
		case r.URL.Path == "/api/v1/namespaces/gone/pods":
			w.WriteHeader(http.StatusGone)
			err = encoder.Encode(&gone, w)
		case query.Get("watch") == "":
			about := metav1.ListMeta{ResourceVersion: "17", Continue: "more " + query.Get("limit")}
			err = encoder.Encode(&corev1.PodList{ListMeta: about, Items: pods}, w)
		default:
			w.Header().Set("Content-Type", mediaType+";stream=watch")
			send := restwatch.NewEncoder(streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(w), info.StreamSerializer.Serializer), encoder)
			for i := range pods {
				err = send.Encode(&watch.Event{Type: watch.Added, Object: &pods[i]})
			}
			end := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				ResourceVersion: "18", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
			}}
			if err == nil {
				err = send.Encode(&watch.Event{Type: watch.Bookmark, Object: &end})
			}
			if err == nil {
				err = send.Encode(&watch.Event{Type: watch.Error, Object: &gone})
			}
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestObjectsAreReadFromRequests lists and watches pods with client-go's requests, of servers that speak protobuf and
// of those that do not.
func TestObjectsAreReadFromRequests(t *testing.T) {
	for _, mediaType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		t.Run(mediaType, func(t *testing.T) {
			resource := kubewire.Pods
			first, second := somePod(), somePod()
			second.Name, second.Spec.NodeName = "other", ""
			client := server(t, mediaType, *first, *second)
			access, ok := To(resource, client.CoreV1().RESTClient(), "ns", "pods")
			if !ok {
				t.Fatal("the client makes no requests")
			}
			var want []*kubewire.Pod
			for _, pod := range []*corev1.Pod{first, second} {
				read, err := resource.Of(pod)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, read)
			}
			list, err := access.List(t.Context(), metav1.ListOptions{Limit: 2})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, list.Items); d != "" {
				t.Errorf("listed (-want +got):\n%s", d)
			}
			if list.ResourceVersion != "17" || list.Continue != "more 2" {
				t.Errorf("the list is %+v", list.ListMeta)
			}
			w, err := access.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			for i, pod := range want {
				if e := <-w.ResultChan(); e.Type != watch.Added || cmp.Diff(runtime.Object(pod), e.Object) != "" {
					t.Errorf("event %d is %s %+v, want %+v", i, e.Type, e.Object, pod)
				}
			}
			end := <-w.ResultChan()
			if pod, ok := end.Object.(*kubewire.Pod); !ok || end.Type != watch.Bookmark || pod.ResourceVersion != "18" ||
				pod.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
				t.Errorf("the end of what there is is told as %s %+v", end.Type, end.Object)
			}
			if e := <-w.ResultChan(); e.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
				t.Errorf("the end of the watch is told as %s %+v", e.Type, e.Object)
			}
			access, _ = To(resource, client.CoreV1().RESTClient(), "gone", "pods")
			if _, err := access.List(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
				t.Errorf("a list that is refused ends with %v", err)
			}
			if _, err := access.Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
				t.Errorf("a watch that is refused ends with %v", err)
			}
		})
	}
}

func TestAFakeClientGivesWholeObjects(t *testing.T) {
	client := fake.NewClientset()
	if _, ok := To(kubewire.Pods, client.CoreV1().RESTClient(), "ns", "pods"); ok {
		t.Error("a fake client is taken for one that makes requests")
	}
	read, err := kubewire.Pods.Object(&corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "3"}, Items: []corev1.Pod{*somePod()}})
	if list, ok := read.(*kubewire.List[*kubewire.Pod]); err != nil || !ok || len(list.Items) != 1 || list.ResourceVersion != "3" {
		t.Errorf("a whole list is read as %+v (%v)", read, err)
	}
}

// somePod is a pod that has ended.
func somePod() *corev1.Pod {
	at := metav1.Unix(1767323045, 0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Namespace: "ns", UID: "uid-a", ResourceVersion: "7", CreationTimestamp: at, Labels: map[string]string{"app": "demo"},
			Annotations:   map[string]string{"jobledger.dev/command": "x", "note": "not read"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet", Time: &at}},
		},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "demo:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: at}},
		}}},
	}
}

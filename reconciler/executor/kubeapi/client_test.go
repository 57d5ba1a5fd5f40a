package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
	"github.com/jobledger/jobledger/reconciler/executor"
)

var _ executor.API = (*Client)(nil)

// reached is a request as it reached the server.
type reached struct{ Method, Path, Query, Type, Body string }

// serve starts a server that answers every request with that code and object. The function it returns gives the last
// request and how many there were.
func serve(t *testing.T, code, retryAfter int, answer runtime.Object) (*Client, func() (reached, int)) {
	t.Helper()
	return serveIn(t, runtime.ContentTypeJSON, code, retryAfter, answer)
}

func serveIn(t *testing.T, mediaType string, code, retryAfter int, answer runtime.Object) (*Client, func() (reached, int)) {
	t.Helper()
	speaks, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("client-go does not speak %s", mediaType)
	}
	var last atomic.Pointer[reached]
	var n atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		last.Store(&reached{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), string(body)})
		n.Add(1)
		w.Header().Set("Content-Type", mediaType)
		if retryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
		w.WriteHeader(code)
		if err := speaks.Serializer.Encode(answer, w); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	client, err := New(clientset)
	if err != nil {
		t.Fatal(err)
	}
	return client, func() (reached, int) {
		if r := last.Load(); r != nil {
			return *r, int(n.Load())
		}
		return reached{}, 0
	}
}

func pod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u", ResourceVersion: "7"},
	}
}

func job() *batchv1.Job {
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "u", ResourceVersion: "7"},
		Status:     batchv1.JobStatus{Active: 3},
	}
}

func TestRequests(t *testing.T) {
	rows := []struct {
		sentence string
		answer   runtime.Object
		call     func(context.Context, *Client) (kubewire.Stored, error)
		want     reached // Body is a part that it must contain
	}{
		{
			"a pod is posted under its name", pod(),
			func(ctx context.Context, c *Client) (kubewire.Stored, error) {
				return c.CreatePod(ctx, "ns", encoded(pod()))
			},
			reached{"POST", "/api/v1/namespaces/ns/pods", "fieldManager=jobledger", runtime.ContentTypeProtobuf, string(encoded(pod()))},
		},
		{
			"a patch is a strategic merge patch, sent as it is", pod(),
			func(ctx context.Context, c *Client) (kubewire.Stored, error) {
				return c.PatchPod(ctx, "ns", "p", []byte(`{"metadata":{"uid":"u"}}`))
			},
			reached{
				"PATCH", "/api/v1/namespaces/ns/pods/p", "fieldManager=jobledger",
				"application/strategic-merge-patch+json", `{"metadata":{"uid":"u"}}`,
			},
		},
		{
			"a status is put to its subresource at the version that was read", job(),
			func(ctx context.Context, c *Client) (kubewire.Stored, error) {
				return storedOf(c.UpdateJobStatus(ctx, "ns", "j", encoded(job())))
			},
			reached{
				"PUT", "/apis/batch/v1/namespaces/ns/jobs/j/status", "fieldManager=jobledger",
				runtime.ContentTypeProtobuf, string(encoded(job())),
			},
		},
		{
			"a Job is got past any cache", job(),
			func(ctx context.Context, c *Client) (kubewire.Stored, error) {
				return storedOf(c.GetJob(ctx, "ns", "j"))
			},
			reached{Method: "GET", Path: "/apis/batch/v1/namespaces/ns/jobs/j"},
		},
		{
			"a pod is found by a list, past any cache", &corev1.PodList{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*pod()},
			},
			func(ctx context.Context, c *Client) (kubewire.Stored, error) {
				return storedOf(c.FindPod(ctx, "ns", "p"))
			},
			reached{Method: "GET", Path: "/api/v1/namespaces/ns/pods", Query: "fieldSelector=metadata.name%3Dp"},
		},
	}
	for _, row := range rows {
		for _, speaks := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
			t.Run(row.sentence+", of a server that speaks "+speaks, func(t *testing.T) {
				client, sent := serveIn(t, speaks, http.StatusOK, 0, row.answer)
				o, err := row.call(t.Context(), client)
				if err != nil {
					t.Fatal(err)
				}
				if o.UID != "u" || o.Version != 7 {
					t.Errorf("got %q at %d", o.UID, o.Version)
				}
				got, _ := sent()
				if !strings.Contains(got.Body, row.want.Body) {
					t.Errorf("body %s, want %s in it", got.Body, row.want.Body)
				}
				got.Body = row.want.Body
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// encoded returns an object as the executor sends it.
func encoded(o interface{ Marshal() ([]byte, error) }) []byte {
	b, err := o.Marshal()
	if err != nil {
		panic(err)
	}
	return b
}

func storedOf[O metav1.Object](o O, err error) (kubewire.Stored, error) {
	if err != nil {
		return kubewire.Stored{}, err
	}
	return kubewire.StoredOf(o), nil
}

func TestDeleteCarriesItsPreconditions(t *testing.T) {
	rows := []struct{ sentence, uid, version, want string }{
		{"the UID", "u", "", `"preconditions":{"uid":"u"}`},
		{"the UID and the version", "u", "7", `"preconditions":{"uid":"u","resourceVersion":"7"}`},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			client, sent := serve(t, http.StatusOK, 0, pod())
			if err := client.DeletePod(t.Context(), "ns", "p", "u", row.version); err != nil {
				t.Fatal(err)
			}
			got, _ := sent()
			if got.Method != "DELETE" || got.Path != "/api/v1/namespaces/ns/pods/p" || !strings.Contains(got.Body, row.want) {
				t.Errorf("sent %+v, want %s in the body", got, row.want)
			}
			if strings.Contains(got.Body, "gracePeriodSeconds") || strings.Contains(got.Body, "propagationPolicy") {
				t.Errorf("options other than the defaults: %s", got.Body)
			}
		})
	}
}

// A Job is deleted in the foreground, so after its pods, and only in the version that was judged.
func TestAJobIsDeletedInTheForeground(t *testing.T) {
	client, sent := serve(t, http.StatusOK, 0, job())
	if err := client.DeleteJobVersion(t.Context(), "ns", "j", "u", "7"); err != nil {
		t.Fatal(err)
	}
	got, n := sent()
	if n != 1 || got.Method != "DELETE" || got.Path != "/apis/batch/v1/namespaces/ns/jobs/j" {
		t.Errorf("sent %d times: %s %s", n, got.Method, got.Path)
	}
	for _, want := range []string{`"preconditions":{"uid":"u","resourceVersion":"7"}`, `"propagationPolicy":"Foreground"`} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("sent %s, want %s in it", got.Body, want)
		}
	}
	if strings.Contains(got.Body, "gracePeriodSeconds") {
		t.Errorf("a grace period is sent: %s", got.Body)
	}
}

// C-124, C-147, C-247: a Job of a CronJob is deleted in the background, and only the one with that UID.
func TestAJobOfACronJobIsDeletedInTheBackground(t *testing.T) {
	client, got := serve(t, 200, 0, &metav1.Status{Status: metav1.StatusSuccess})
	if err := client.DeleteRun(t.Context(), "ns", "j", "u"); err != nil {
		t.Fatal(err)
	}
	r, _ := got()
	var sent metav1.DeleteOptions
	if err := json.Unmarshal([]byte(r.Body), &sent); err != nil {
		t.Fatal(err)
	}
	if r.Method != "DELETE" || r.Path != "/apis/batch/v1/namespaces/ns/jobs/j" || sent.PropagationPolicy == nil ||
		*sent.PropagationPolicy != metav1.DeletePropagationBackground || sent.Preconditions == nil || *sent.Preconditions.UID != "u" {
		t.Errorf("%s %s with %s", r.Method, r.Path, r.Body)
	}
}

func TestNoneFoundIsNotFound(t *testing.T) {
	client, _ := serve(t, http.StatusOK, 0, &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}})
	if _, err := client.FindPod(t.Context(), "ns", "p"); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want NotFound", err)
	}
}

// client-go would try ten times, and would wait between the tries for as long as the server asks.
func TestNothingIsTriedAgain(t *testing.T) {
	for _, code := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			refusal := &metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
				Code: int32(code), Message: "later", Details: &metav1.StatusDetails{RetryAfterSeconds: 30},
			}
			calls := map[string]func(context.Context, *Client) error{
				"create": func(ctx context.Context, c *Client) error {
					_, err := c.CreatePod(ctx, "ns", encoded(pod()))
					return err
				},
				"delete": func(ctx context.Context, c *Client) error { return c.DeletePod(ctx, "ns", "p", "u", "") },
				"delete Job": func(ctx context.Context, c *Client) error {
					return c.DeleteJobVersion(ctx, "ns", "j", "u", "7")
				},
				"patch": func(ctx context.Context, c *Client) error {
					_, err := c.PatchPod(ctx, "ns", "p", []byte("{}"))
					return err
				},
				"write": func(ctx context.Context, c *Client) error {
					_, err := c.UpdateJobStatus(ctx, "ns", "j", encoded(job()))
					return err
				},
				"get":  func(ctx context.Context, c *Client) error { _, err := c.GetJob(ctx, "ns", "j"); return err },
				"find": func(ctx context.Context, c *Client) error { _, err := c.FindPod(ctx, "ns", "p"); return err },
			}
			for name, call := range calls {
				client, sent := serve(t, code, 30, refusal)
				ctx, cancel := patience.Context(t.Context())
				err := call(ctx, client)
				cancel()
				var status apierrors.APIStatus
				if !errors.As(err, &status) || status.Status().Code != int32(code) || status.Status().Details.RetryAfterSeconds != 30 {
					t.Errorf("%s: error %v, want the server's answer with its wish", name, err)
				}
				if _, n := sent(); n != 1 {
					t.Errorf("%s: sent %d times", name, n)
				}
			}
		})
	}
}

func TestFakeClientsetIsRefused(t *testing.T) {
	if _, err := New(fake.NewClientset()); err == nil {
		t.Error("it was accepted: the first request would panic")
	}
}

package request

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// answer is what a server says to everything.
type answer struct {
	code    int
	headers map[string]string
	body    []byte
}

func (a *answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body)
}

func clientTo(t *testing.T, h http.Handler) (kubernetes.Interface, *Sender) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL + "/prefix", QPS: -1, UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := NewSender(client.CoreV1().RESTClient())
	if !ok {
		t.Fatal("the client makes no requests")
	}
	return client, s
}

func status(t *testing.T, mediaType string, err *apierrors.StatusError) []byte {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("client-go does not speak %s", mediaType)
	}
	var b bytes.Buffer
	s := err.Status()
	s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if err := info.Serializer.Encode(&s, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRefusalsAreThoseOfRest: whatever a server, or something before it, answers, the error is the one that a
// rest.Request gives.
func TestRefusalsAreThoseOfRest(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	conflict := apierrors.NewConflict(pods, "p", errors.New("it was changed"))
	patient := apierrors.NewTooManyRequests("later", 7)
	rows := map[string]answer{
		"a conflict in protobuf":              {409, map[string]string{"Content-Type": runtime.ContentTypeProtobuf}, status(t, runtime.ContentTypeProtobuf, conflict)},
		"a conflict in JSON":                  {409, map[string]string{"Content-Type": runtime.ContentTypeJSON}, status(t, runtime.ContentTypeJSON, conflict)},
		"too many requests, in protobuf":      {429, map[string]string{"Content-Type": runtime.ContentTypeProtobuf, "Retry-After": "3"}, status(t, runtime.ContentTypeProtobuf, patient)},
		"too many requests, in words":         {429, map[string]string{"Content-Type": "text/plain; charset=utf-8", "Retry-After": "3"}, []byte("Too many requests, please try again later.\n")},
		"unavailable, without a word":         {503, map[string]string{"Retry-After": "1"}, nil},
		"unavailable, until a date":           {503, map[string]string{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, nil},
		"a page of a proxy":                   {502, map[string]string{"Content-Type": "text/html"}, bytes.Repeat([]byte("<html>bad gateway</html> "), 200)},
		"JSON that is no Status":              {500, map[string]string{"Content-Type": runtime.ContentTypeJSON}, []byte(`{"error":"oops"}`)},
		"JSON that says it is a success":      {500, map[string]string{"Content-Type": runtime.ContentTypeJSON}, []byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`)},
		"not found, by something else":        {404, map[string]string{"Content-Type": "text/plain"}, []byte("404 page not found")},
		"no rights":                           {403, map[string]string{"Content-Type": runtime.ContentTypeJSON}, status(t, runtime.ContentTypeJSON, apierrors.NewForbidden(pods, "p", errors.New("exceeded quota: x")))},
		"bytes that look like an answer":      {500, map[string]string{"Content-Type": runtime.ContentTypeProtobuf}, []byte("k8s\x00\xff\xff")},
		"the server takes another media type": {415, map[string]string{"Content-Type": runtime.ContentTypeJSON}, []byte(`{}`)},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			client, sender := clientTo(t, &row)
			got := sender.Send(t.Context(), &Request{
				Verb: http.MethodPatch, Namespace: "ns", Resource: "pods", Name: "p", ContentType: "application/merge-patch+json", Body: []byte("{}"),
			}, func([]byte) error { t.Error("the answer was taken for a success"); return nil })
			want := client.CoreV1().RESTClient().Patch("application/merge-patch+json").MaxRetries(0).
				Namespace("ns").Resource("pods").Name("p").Body([]byte("{}")).Do(t.Context()).Error()
			var a, b apierrors.APIStatus
			if !errors.As(want, &a) || !errors.As(got, &b) {
				t.Fatalf("error %v, want %v", got, want)
			}
			if d := cmp.Diff(a.Status(), b.Status()); d != "" {
				t.Errorf("the error (+) is not that of rest (-):\n%s", d)
			}
		})
	}
}

// TestARequestIsThatOfRest: the same reaches the server, but that no codec had the body.
func TestARequestIsThatOfRest(t *testing.T) {
	type seen struct {
		Method, URI, Body string
		Headers           http.Header
	}
	var last seen
	client, sender := clientTo(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		last = seen{r.Method, r.RequestURI, string(b), r.Header}
	}))
	for _, row := range []struct {
		r    Request
		rest func(rest.Interface) *rest.Request
	}{
		{
			Request{Verb: http.MethodPost, Namespace: "ns", Resource: "pods", Query: "fieldManager=jobledger", ContentType: "application/json", Body: []byte(`{"a":1}`)},
			func(c rest.Interface) *rest.Request {
				return c.Post().Namespace("ns").Resource("pods").Param("fieldManager", "jobledger").SetHeader("Content-Type", "application/json").Body([]byte(`{"a":1}`))
			},
		},
		{
			Request{Verb: http.MethodPut, Namespace: "ns", Resource: "jobs", Name: "v1.2-x", Subresource: "status", ContentType: "application/json", Body: []byte(`{}`)},
			func(c rest.Interface) *rest.Request {
				return c.Put().Namespace("ns").Resource("jobs").Name("v1.2-x").SubResource("status").SetHeader("Content-Type", "application/json").Body([]byte(`{}`))
			},
		},
		{
			Request{Verb: http.MethodGet, Namespace: "ns", Resource: "jobs", Name: "demo"},
			func(c rest.Interface) *rest.Request { return c.Get().Namespace("ns").Resource("jobs").Name("demo") },
		},
	} {
		if err := sender.Send(t.Context(), &row.r, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		got := last
		err := row.rest(client.CoreV1().RESTClient()).SetHeader("Accept", "application/vnd.kubernetes.protobuf,application/json").Do(t.Context()).Error()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(last, got); d != "" {
			t.Errorf("the request (+) is not that of rest (-):\n%s", d)
		}
	}
}

// TestNoAnswerIsNoStatus: an error of the transport stays what it is, and nothing is tried again.
func TestNoAnswerIsNoStatus(t *testing.T) {
	n := 0
	_, sender := clientTo(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n++
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
		}
		c.Close()
	}))
	request := &Request{Verb: http.MethodPost, Namespace: "ns", Resource: "pods", Body: []byte("{}")}
	err := sender.Send(t.Context(), request, func([]byte) error { return nil })
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) || n != 1 {
		t.Errorf("after %d requests the error is %v", n, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sender.Send(ended, request, func([]byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that has ended the error is %v", err)
	}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1", QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	nobody, _ := NewSender(client.CoreV1().RESTClient())
	err = nobody.Send(t.Context(), request, func([]byte) error { return nil })
	var dial *net.OpError
	if !errors.As(err, &dial) || dial.Op != "dial" {
		t.Errorf("of a server that is not there the error is %v", err)
	}
	if _, ok := NewSender(fake.NewClientset().CoreV1().RESTClient()); ok {
		t.Error("a fake client is taken for one that makes requests")
	}
}

package kube

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/jobledger/jobledger/events"
)

// httpServer takes Events over HTTP. It answers the first request with Retry-After.
type httpServer struct {
	mu      sync.Mutex
	stored  []*corev1.Event
	patches []string
	asked   int
	gone    bool // what was stored has expired
}

// RoundTrip implements http.RoundTripper.
func (s *httpServer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

func (s *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	refuse := func(err *apierrors.StatusError) {
		status := err.Status()
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		w.WriteHeader(int(status.Code))
		_ = scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion).Encode(&status, w)
	}
	if s.asked++; s.asked == 1 {
		refuse(apierrors.NewTooManyRequests("later", 1))
		return
	}
	if r.Method == http.MethodPatch {
		s.patches = append(s.patches, r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
		if s.gone {
			refuse(apierrors.NewNotFound(corev1.Resource("events"), "x"))
			return
		}
		_, _ = w.Write([]byte(`{"kind":"Event","apiVersion":"v1"}`))
		return
	}
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	e, ok := o.(*corev1.Event)
	if err != nil || !ok || r.URL.Path != "/api/v1/namespaces/default/events" || r.Header.Get("Content-Type") != runtime.ContentTypeProtobuf {
		panic([]any{err, o, r.URL.Path, r.Header})
	}
	e.TypeMeta = metav1.TypeMeta{}
	s.stored = append(s.stored, e)
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body)
}

// TestEventsReachAServer: an Event is sent in protobuf, and again if the server asks for that. When it happens again, a
// patch counts it; if it has expired meanwhile, it is created anew.
func TestEventsReachAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &httpServer{}
		client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", QPS: -1, Transport: s})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(client, events.Identity{LogID: "0f0f", Epoch: 1}, slog.New(slog.DiscardHandler))
		e := Event{Job: demo, Type: "Normal", Reason: Completed, Message: "Job completed", Record: 7, At: events.Time(1767323045e9), Verdict: "well"}
		for range 2 {
			if err := w.write(t.Context(), e, 1); err != nil {
				t.Fatal(err)
			}
		}
		s.gone = true
		if err := w.write(t.Context(), e, 1); err != nil {
			t.Fatal(err)
		}
		if len(s.stored) != 2 || s.asked != 5 {
			t.Fatalf("%d Events were made by %d requests", len(s.stored), s.asked)
		}
		first, again := s.stored[0], s.stored[1]
		alone := toSend{said: said{first.Name, 1, e.At.Go()}, at: e.At.Go(), text: e.Message}
		if d := cmp.Diff(object(&e, "0f0f.1/7", &alone), first); d != "" {
			t.Errorf("stored (-want +got):\n%s", d)
		}
		if again.Name != first.Name || again.Count != 3 || !again.FirstTimestamp.Equal(&first.FirstTimestamp) {
			t.Errorf("after it has expired it is made as %+v", again)
		}
		path := "/api/v1/namespaces/default/events/" + first.Name + " application/strategic-merge-patch+json "
		want := []string{
			path + `{"count":2,"lastTimestamp":"2026-01-02T03:04:05Z","message":"Job completed"}`,
			path + `{"count":3,"lastTimestamp":"2026-01-02T03:04:05Z","message":"Job completed"}`,
		}
		if d := cmp.Diff(want, s.patches); d != "" {
			t.Errorf("patches (-want +got):\n%s", d)
		}
	})
}

package controller

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// testCertificate writes the pair of a test server of the library into files.
func testCertificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// O-034: metrics are given to those who may get the path, and to nobody else.
// O-035: probes are answered to all.
// O-073: what the probes found is at /metrics/slis, under the names that dashboards know.
//
// TestWhoMayScrape: with --metrics-authorize probes are answered to all, and metrics to those whom the API server lets
// read them. With --readers records are given to those whom it lets get /v1/, and no question is answered.
func TestWhoMayScrape(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, k8sruntime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		r.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: r.Spec.Token}}
		return true, r, nil
	})
	client.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, k8sruntime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		path := r.Spec.NonResourceAttributes.Path
		r.Status.Allowed = r.Spec.User == "prometheus" && path != "/v1/" || r.Spec.User == "reader" && path == "/v1/"
		return true, r, nil
	})
	certFile, keyFile := testCertificate(t)
	f := &ScrapeConfig{Address: "127.0.0.1:0", CertFile: certFile, KeyFile: keyFile, Authorize: true}
	registry := prometheus.NewRegistry()
	registerProgram(registry, Program{})
	log, err := boltlog.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	storetest.NewWriter(t, log).Create()
	giver := feed.NewGiver(feed.Config{})
	giver.Open(log)
	server, err := newScrape(f, &Health{listing: true}, registry, client, giver, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run() }() // ends with stopServing
	defer func() {
		stopServing(server)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	https := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // whose certificate it is is tested elsewhere
	for _, row := range []struct {
		path, token string
		status      int
		says        string
	}{
		{"/healthz", "", http.StatusOK, "ok"},
		{"/readyz", "", http.StatusInternalServerError, "the cluster is being listed"},
		{"/metrics", "", http.StatusUnauthorized, "Authorization: Bearer"},
		{"/metrics", "tenant", http.StatusForbidden, "nonResourceURLs"},
		{"/metrics", "prometheus", http.StatusOK, `jobledger_build_info{`},
		{"/metrics/slis", "", http.StatusUnauthorized, ""},
		{"/metrics/slis", "prometheus", http.StatusOK, `kubernetes_healthcheck{name="listing",type="readyz"} 0`},
		{"/metrics/slis", "prometheus", http.StatusOK, `kubernetes_healthchecks_total{name="log",status="success",type="healthz"}`},
		{"/metrics/slis", "prometheus", http.StatusOK, `kubernetes_healthchecks_total{name="listing",status="error",type="readyz"}`},
		{"/v1/head", "", http.StatusUnauthorized, "Authorization: Bearer"},
		{"/v1/head", "prometheus", http.StatusForbidden, "this user may not get /v1/"},
		{"/v1/records?from=1", "tenant", http.StatusForbidden, "this user may not get /v1/"},
		{"/v1/explain/default/x", "tenant", http.StatusForbidden, "this user may not get /v1/"},
		{"/v1/head", "reader", http.StatusOK, `"logID":"` + log.Identity().LogID + `"`},
		{"/v1/records?from=1", "reader", http.StatusOK, log.Identity().LogID},
		{"/v1/jobs", "reader", http.StatusNotFound, "answers no question here"},
		{"/v1/explain/default/x", "reader", http.StatusNotFound, "answers no question here"},
		{"/metrics", "reader", http.StatusForbidden, "nonResourceURLs"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+row.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if row.token != "" {
			request.Header.Set("Authorization", "Bearer "+row.token)
		}
		response, err := https.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != row.status || !strings.Contains(string(text), row.says) {
			t.Errorf("%s with token %q: %d, %v; want %d and %q in\n%s", row.path, row.token, response.StatusCode, err, row.status, row.says, text)
		}
	}
}

// TestOneScrapeAtATime: however many ask at once, on whatever port, metrics are gathered once at a time. A client that
// does not read what it asked for keeps nobody waiting.
func TestOneScrapeAtATime(t *testing.T) {
	var now, most atomic.Int32
	gather := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		for range 100 { // others have their chance
			runtime.Gosched()
		}
		now.Add(-1)
		return prometheus.NewRegistry().Gather()
	})
	h, ports := &Health{}, []*http.ServeMux{http.NewServeMux(), http.NewServeMux()}
	for _, mux := range ports {
		h.serve(mux, gather, nil)
	}
	deaf := &deafWriter{header: http.Header{}, begun: make(chan struct{}), reads: make(chan struct{})}
	var heard, answered sync.WaitGroup
	heard.Go(func() { ports[0].ServeHTTP(deaf, httptest.NewRequest(http.MethodGet, "/metrics/slis", nil)) })
	<-deaf.begun
	for n := range 40 {
		answered.Go(func() {
			w := httptest.NewRecorder()
			ports[n%2].ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			if w.Code != http.StatusOK {
				t.Errorf("%d", w.Code)
			}
		})
	}
	answered.Wait() // while one is not read
	close(deaf.reads)
	heard.Wait()
	if most.Load() != 1 {
		t.Errorf("metrics were gathered %d times at once", most.Load())
	}
}

// deafWriter is a client that reads nothing at first.
type deafWriter struct {
	header       http.Header
	begun, reads chan struct{}
	once         sync.Once
}

func (w *deafWriter) Header() http.Header { return w.header }
func (w *deafWriter) WriteHeader(int)     {}
func (w *deafWriter) Write(b []byte) (int, error) {
	w.once.Do(func() { close(w.begun) })
	<-w.reads
	return len(b), nil
}

// TestRecordsAreNotGivenInTheOpen: a port without TLS has no place for a token, so nothing below /v1/ is there.
func TestRecordsAreNotGivenInTheOpen(t *testing.T) {
	giver := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("records")) })
	server, err := newScrape(&ScrapeConfig{Address: "127.0.0.1:0", Readers: true}, &Health{}, prometheus.NewRegistry(),
		fake.NewClientset(), giver, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run() }() // ends with stopServing
	defer func() {
		stopServing(server)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	response, err := http.Get(server.URL() + "/v1/records")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("%d", response.StatusCode)
	}
}

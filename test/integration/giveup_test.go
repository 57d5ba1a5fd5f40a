package integration

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// hanging is a proxy to the API server that can hold requests.
type hanging struct {
	hold atomic.Pointer[func(*http.Request) bool] // which requests are held; nil: none
	held atomic.Int64
}

// newHanging returns the proxy, and a kubeconfig through it for the user of the world.
func newHanging(w *world) (h *hanging, kubeconfig string) {
	w.t.Helper()
	config, err := w.cp.UserConfig(w.namespace)
	if err != nil {
		w.t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		w.t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		w.t.Fatal(err)
	}
	h = &hanging{}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if hold := h.hold.Load(); hold != nil && (*hold)(r) {
			h.held.Add(1)
			<-r.Context().Done() // until the client gives up
			return
		}
		forward.ServeHTTP(out, r)
	}))
	w.t.Cleanup(server.CloseClientConnections)
	kubeconfig = filepath.Join(w.dir, "hanging.kubeconfig")
	if err := controlplane.WriteKubeconfig(&rest.Config{Host: server.URL}, kubeconfig); err != nil {
		w.t.Fatal(err)
	}
	return h, kubeconfig
}

// TestUsersHearOfNoFailureOfOurs: creates that hang when the controller stops, or when its Lease ends, are given up.
// The next start creates the pods. No Event says that they could not be created.
func TestUsersHearOfNoFailureOfOurs(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	creates := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods")
	}
	leases := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/leases/") }
	for _, row := range []struct {
		name string
		hold func(*http.Request) bool
		args []string
		end  func(*world, *controller.Controller)
	}{
		{"a stop", creates, []string{"--stop-timeout=2s"}, func(w *world, c *controller.Controller) { w.stop(c) }},
		{"the Lease ends", func(r *http.Request) bool { return creates(r) || leases(r) }, nil, func(w *world, c *controller.Controller) {
			<-c.Ended()
			if err := c.Failed(); err == nil || err.Error() != "exit status 1" {
				w.t.Errorf("it ended with %v, want exit status 1", err)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.told = []string{"the Lease is lost", "retrieving lease lock"}
			h, kubeconfig := newHanging(w)
			w.kubeconfig = kubeconfig
			c := w.newController("", w.electing(append(row.args, "--slow-start=4")...)...)
			w.start(c)
			h.hold.Store(&row.hold)
			w.create(newJob("demo", completions(4), parallelism(4)))
			w.eventually("creates hang", func() (bool, error) { return h.held.Load() >= 4, nil })
			row.end(w, c)
			h.hold.Store(nil)
			w.start(c)
			w.ends("demo", result{condition: batchv1.JobComplete, reason: "CompletionsReached", succeeded: 4})
			w.stop(c) // Events catch up
			records, err := c.Records(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			given := 0
			for _, r := range records { // a stop with a shorter wait leaves the outcome to the next start
				if strings.Contains(string(r.Evidence), "given up") || strings.Contains(string(r.Facts), "OutcomeUnknown") {
					given++
				}
			}
			if given == 0 {
				t.Error("the log knows of no create that was given up: this tests nothing")
			}
			list, err := w.client.CoreV1().Events(w.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "type=Warning"})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list.Items {
				t.Errorf("users were told: %s %s %s", e.InvolvedObject.Name, e.Reason, e.Message)
			}
		})
	}
}

package controller

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jobledger/jobledger/internal/run/lease"
)

func TestProbes(t *testing.T) {
	rows := []struct {
		sentence   string
		state      func(*Health)
		live, fit  int
		readyzSays string
	}{
		{"a controller that works lives and is ready", func(*Health) {}, 200, 200, "[+]running ok"},
		{"one that lists the cluster lives and is not ready", func(h *Health) { h.listing = true }, 200, 500, "[-]listing: "},
		{"one that waits for the Lease lives and is ready (O-035)", func(h *Health) { h.standby = true }, 200, 200, "ok"},
		{"one that may be a second controller is not ready", func(h *Health) { h.standby, h.second = true, "the Lease is held" }, 200, 500, "[-]lease: the Lease is held"},
		{"one that waits for the Lease, or its log, is not ready while the disk is full", func(h *Health) { h.standby, h.full = true, true }, 200, 500, "[-]room: "},
		{"one whose disk is full lives and is not ready", func(h *Health) { h.full = true }, 200, 500, "[-]room: "},
		{"one that stops lives and is not ready", func(h *Health) { h.stopping = true }, 200, 500, "[-]running: "},
		{"one whose log failed does not live", func(h *Health) { h.failed = errors.New("disk is gone") }, 500, 500, "[-]log: disk is gone"},
		{"one whose loop stands still does not live", func(h *Health) { h.turned = time.Now().Add(-2 * time.Minute) }, 500, 500, "[-]loop: it has not gone round for 2m0s"},
		{"one that waits for its last commands stands still and lives", func(h *Health) {
			h.turned, h.stopping = time.Now().Add(-2*time.Minute), true
		}, 200, 500, "[+]loop ok"},
		{"one whose NATS stream is behind lives and is ready", func(h *Health) {
			h.degraded = func() string { return "degraded: 7 records behind" }
		}, 200, 200, "[~]nats degraded: 7 records behind"},
		{"one whose log is larger than it may be lives and is ready", func(h *Health) { h.retention = "the log has 2 MiB" }, 200, 200, "[~]retention: the log has 2 MiB\n"},
		{"one in which a namespace is over its budget of log lives and is ready", func(h *Health) {
			h.over = overBudget(7, []string{"a", "b"})
		}, 200, 200, "[~]budget: over --log-namespace-budget, so less of it is recorded: a, b and 5 more"},
		{"one beside which a tenant holds a Lease lives and is ready, and quotes the tenant", func(h *Health) {
			h.beside = besideUs([]lease.Said{{Lease: "web/jobledger", Holder: "mallory\n[+]" + strings.Repeat("x", 1000)}})
		}, 200, 200, `[~]lease: at the start other Leases were held for the same Jobs, and were not heeded: web/jobledger by "mallory\n[+]xxx`},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &Health{turned: time.Now()}
				h.set(row.state)
				ask := func(ready bool) *httptest.ResponseRecorder {
					w := httptest.NewRecorder()
					h.Probe("readyz", ready)(w, probe("127.0.0.1"))
					return w
				}
				if got := ask(false).Code; got != row.live {
					t.Errorf("livez: %d, want %d", got, row.live)
				}
				ready := ask(true)
				if ready.Code != row.fit || !strings.Contains(ready.Body.String(), row.readyzSays) {
					t.Errorf("readyz: %d %q, want %d and %q", ready.Code, ready.Body, row.fit, row.readyzSays)
				}
			})
		})
	}
}

// probe is a request for the words of all checks that came to that address of ours.
func probe(address string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/readyz?verbose", nil)
	local := &net.TCPAddr{IP: net.ParseIP(address), Port: 10272}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
}

// TestTheOpenPortNamesNothing: whatever is wrong, another machine is told one word for each check. The log has the
// sentence, once.
func TestTheOpenPortNamesNothing(t *testing.T) {
	const secret = "payroll-secret"
	var logged strings.Builder
	h := &Health{
		logger:  slog.New(slog.NewTextHandler(&logged, nil)),
		Holes:   func() []error { return []error{errors.New("/" + secret + "/1.db is damaged")} },
		listing: true, denied: "no right in " + secret, rival: "it wrote the status of Job " + secret + "/x", stopping: true, full: true,
		failed: errors.New(secret), over: secret, retention: secret, beside: secret, degraded: func() string { return secret },
		turned: time.Now().Add(-time.Hour),
	}
	want := "[-]log failed\n[+]loop ok\n[-]room failed\n[-]listing failed\n[-]rival failed\n[-]running failed\n" +
		"[~]budget warning\n[~]retention warning\n[~]lease warning\n[~]log warning\n[~]nats warning\n"
	for _, address := range []string{"10.0.0.7", "10.0.0.7", "fd00::7", ""} {
		w := httptest.NewRecorder()
		h.Probe("readyz", true)(w, probe(address))
		if w.Code != http.StatusInternalServerError || w.Body.String() != want {
			t.Errorf("to %q: %d\n%swant\n%s", address, w.Code, w.Body, want)
		}
	}
	for name, times := range map[string]int{ // log: that it failed, and a file of it
		"log": 2, "room": 1, "listing": 1, "rival": 1, "running": 1, "budget": 1, "retention": 1, "lease": 1, "nats": 1,
	} {
		if n := strings.Count(logged.String(), " check="+name+" "); n != times {
			t.Errorf("the log tells of %s %d times, want %d\n%s", name, n, times, &logged)
		}
	}
	for _, address := range []string{"127.0.0.1", "::1"} {
		w := httptest.NewRecorder()
		if h.Probe("readyz", true)(w, probe(address)); strings.Count(w.Body.String(), secret) != 8 {
			t.Errorf("to %s: %s", address, w.Body)
		}
	}
}

func TestServerClock(t *testing.T) {
	date := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	answer := func(header string) roundTripper {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{Header: http.Header{"Date": {header}}, Body: http.NoBody}, nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var c serverClock
		begin := time.Now()
		if _, ok := c.since(begin); ok {
			t.Error("a server that never answered has a clock")
		}
		ask := func(header string) {
			resp, err := c.noting(answer(header)).RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		ask(date.Format(http.TimeFormat))
		time.Sleep(3 * time.Second)
		if got, ok := c.since(begin); !ok || !got.Equal(date.Add(3*time.Second)) {
			t.Errorf("3 s after its answer the server's clock shows %v, %v", got, ok)
		}
		if _, ok := c.since(time.Now()); ok {
			t.Error("an answer from before the question is believed")
		}
		ask("yesterday")
		if got, ok := c.since(begin); !ok || !got.Equal(date.Add(3*time.Second)) {
			t.Errorf("an answer without a date changes the clock to %v, %v", got, ok)
		}
	})
}

package faults

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// TestEachFaultIsWhatItSays: whether the call reaches the server, and what the client hears.
func TestEachFaultIsWhatItSays(t *testing.T) {
	for _, row := range []struct {
		kind   Kind
		effect int32
		code   int // 0: no answer
	}{
		{"", 1, http.StatusOK},
		{LostBefore, 0, 0},
		{LostAfter, 1, 0},
		{TimedOut, 0, http.StatusGatewayTimeout},
		{LateTimeout, 1, http.StatusGatewayTimeout},
		{TooMany, 0, http.StatusTooManyRequests},
		{Failed, 0, http.StatusInternalServerError},
		{Touched, 2, http.StatusOK},
	} {
		t.Run(string(row.kind), func(t *testing.T) {
			var effects atomic.Int32
			var logged atomic.Value // the ID of the newest write
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				effects.Add(1)
				logged.Store(r.Header.Get("Audit-ID"))
				w.WriteHeader(http.StatusOK)
			}))
			defer server.Close()
			p, err := Start(Config{
				Upstream: &rest.Config{Host: server.URL}, Rates: Rates{row.kind: 1}, Keep: true,
				Touch: func(_ context.Context, path string) error {
					if path != "/a" {
						t.Errorf("%s was touched", path)
					}
					effects.Add(1)
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			put := func() (code int) {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.Client().Host+"/a/status", strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return 0
				}
				response.Body.Close()
				return response.StatusCode
			}
			if code := put(); code != row.code || effects.Load() != row.effect {
				t.Errorf("the answer is %d and it took effect %d times, want %d and %d", code, effects.Load(), row.code, row.effect)
			}
			checkCall(t, p.Calls(), row.kind, row.code, row.effect > 0, &logged)
			if n := p.Counts()[row.kind]; row.kind != "" && n != 1 {
				t.Errorf("%d faults are counted", n)
			}
			p.Calm()
			if code := put(); code != http.StatusOK {
				t.Errorf("the answer is %d although nothing is to go wrong any more", code)
			}
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkCall: the one call that is kept tells what went wrong, and its ID is that in the server's log.
func checkCall(t *testing.T, calls []Call, kind Kind, told int, arrived bool, logged *atomic.Value) {
	t.Helper()
	if len(calls) != 1 {
		t.Fatalf("%d calls are kept", len(calls))
	}
	c := &calls[0]
	if c.Kind != kind || c.Told != told || c.Method != http.MethodPut || c.Path != "/a/status" {
		t.Errorf("the call is kept as %+v", c)
	}
	if arrived && (c.Answer != http.StatusOK || c.Body != nil || logged.Load() != c.ID) {
		t.Errorf("the call that arrived as %v is kept as %+v", logged.Load(), c)
	}
	if !arrived && (c.Answer != 0 || string(c.Body) != "{}") {
		t.Errorf("the call that did not arrive is kept as %+v", c)
	}
}

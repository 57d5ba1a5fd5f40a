package reader_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/run/reader"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestTheControllerStops: while it runs, answers are of its log. When it is gone, every answer and page says since
// when, and up to which record its log is known; when it is back, answers are of its log again.
func TestTheControllerStops(t *testing.T) {
	log := historytest.Hard(t, 1)
	lists := joblist.New(joblist.Config{Log: log})
	var gone atomic.Bool
	handler := serve.Handler(serve.Config{Log: log, Lists: lists, Within: patience.Time()})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler) // the connection is closed
		}
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	client, err := serve.NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(server.URL, "http://")
	controller := reader.NewController(client, name, time.Now, slog.New(slog.DiscardHandler))
	r := run(t, reader.Config{Client: cluster([]string{"default"}, "admin/", "ann/default"), Log: controller})
	waitFor := func(status int) {
		t.Helper()
		ctx, cancel := patience.Context(t.Context())
		defer cancel()
		if err := patience.Until(ctx, 10*time.Millisecond, nil, func() (bool, error) {
			return as(t, r, "admin", "/v1/jobs").status == status, nil
		}); err != nil {
			t.Fatalf("no answer with %d: %v", status, err)
		}
	}
	addresses := []string{"/v1/jobs?namespace=default", "/v1/explain/default/job-1", "/?n=default", "/job/default/job-1",
		"/record/20", "/find?q=job&n=default", "/job/default/job-1?o=md"}
	answered := map[string]reply{}
	waitFor(http.StatusOK)
	head := log.Head()
	for _, user := range []string{"admin", "ann"} {
		for _, address := range addresses {
			got := as(t, r, user, address)
			if answered[user+address] = got; got.status != http.StatusOK {
				t.Errorf("%s asks %s: %d %s", user, address, got.status, got.body)
			}
		}
	}
	gone.Store(true)
	waitFor(http.StatusServiceUnavailable)
	zone := words.Zone{}
	for _, user := range []string{"admin", "ann"} {
		for _, address := range addresses {
			got := as(t, r, user, address)
			known := fmt.Sprintf("the newest record that is known is %d of %s", head.Sequence, zone.Second(head.Time))
			if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, known) ||
				!strings.Contains(got.body, "the controller at "+name+" has not answered since 2") {
				t.Errorf("%s asks %s while no controller answers: %d\n%s", user, address, got.status, got.body)
			}
			if got.header.Get(serve.AsOfHeader) != "" || got.header.Get("Retry-After") == "" {
				t.Errorf("%s asks %s: as of %s", user, address, got.header.Get(serve.AsOfHeader))
			}
		}
	}
	gone.Store(false)
	waitFor(http.StatusOK)
	for _, address := range addresses {
		if got := as(t, r, "ann", address); got.status != http.StatusOK || got.body != answered["ann"+address].body {
			t.Errorf("%s, when the controller is back: %d, another answer than before", address, got.status)
		}
	}
}

package replicating_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	natsd "github.com/nats-io/nats-server/v2/server"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/run/replicating"
)

// TestAServerProvesThatItSyncs: by what it says itself. One that does not sync is refused, so is one that none of the
// addresses is of, and one that is too old. An address that does not answer is waited for.
func TestAServerProvesThatItSyncs(t *testing.T) {
	monitored := func(sync bool) (*natstest.Server, string) {
		s := natstest.NewServer(t, func(o *natsd.Options) {
			o.HTTPHost, o.HTTPPort, o.SyncAlways, o.ServerName = "127.0.0.1", -1, sync, "nats-0"
		}).Start()
		return s, "http://" + s.Run.MonitorAddr().String()
	}
	good, address := monitored(true)
	c := config(t, good)
	c.Monitor = []string{address + "/"}
	began(t, c, replicating.Own{})

	lazy, lazyAddress := monitored(false)
	refused := func(s *natstest.Server, address, says string) {
		t.Helper()
		c := config(t, s)
		c.Monitor = []string{address}
		if _, err := join(t, c, replicating.Own{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it is refused with %v, want %q", err, says)
		}
	}
	refused(lazy, lazyAddress, "server nats-0 does not sync")
	says := func(text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	synced := `"jetstream":{"config":{"sync_always":true}}}`
	refused(lazy, says(`{"server_name":"other",`+synced), "no address of --replicate-monitor")
	refused(lazy, says(`{"server_name":"nats-0","version":"2.14.4",`+synced), "nats-server 2.14.4")

	ctx, stop := patience.Context(t.Context())
	defer stop()
	c = config(t, good)
	c.Monitor = []string{says("{}")}
	waits := &until{text: "does not say which server it is", then: stop}
	c.Logger = slog.New(slog.NewTextHandler(waits, nil))
	if _, err := replicating.Join(ctx, c, replicating.Own{}); !errors.Is(err, context.Canceled) || !waits.was.Load() {
		t.Errorf("an address without an answer ends it with %v", err)
	}
}

// TestMonitoringAddresses are checked before anything is asked.
func TestMonitoringAddresses(t *testing.T) {
	for addresses, good := range map[string]bool{
		"http://nats-0:8222": true, "http://a:8222,https://b/monitor": true, "nats://a:4222": false, "a:8222": false,
		"":                  false,
		"http://u:p@a:8222": false, "http://a:8222,": false, "http://a:8222/varz?x=1": false,
	} {
		if err := replicating.CheckMonitor(addresses); (err == nil) != good {
			t.Errorf("%q: %v", addresses, err)
		}
	}
}

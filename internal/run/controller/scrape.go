package controller

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/run/feed"
	"github.com/jobledger/jobledger/internal/wire/httpport"
)

// answerWithin limits the time for an answer to a probe or a scrape.
const answerWithin = 30 * time.Second

// newScrape opens the port for clients on other machines. The part that sends records to readers gets the log later,
// when it is open.
func (c *controller) newScrape() (*httpport.Server, error) {
	var giver http.Handler
	if c.config.Scrape.Readers {
		c.giver = c.newGiver()
		giver = c.giver
	}
	return newScrape(&c.config.Scrape, c.health, c.registry, c.config.Cluster.Client, giver, c.logger)
}

// newGiver returns the HTTP handler that sends the log's records to readers on other machines. It gets requests only
// after the log is open, when the Lease exists.
func (c *controller) newGiver() *feed.Giver {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return feed.NewGiver(feed.Config{
		Name: name, Now: c.now, NotListed: c.health.notListed, Process: func() string { return c.identity },
		Leads: func() bool { return c.lease == nil || c.lease.Holds() },
	})
}

// recordsPath is the URL path for which a user needs the right "get" (on a non-resource URL) to read records.
const recordsPath = "/v1/"

// newScrape opens the port for probes, metrics and readers on other machines. Probes and metrics reveal nothing about
// any Job, so everyone may read metrics unless Authorize is set. Only users with the right to get /v1/ receive records;
// a nil giver serves none.
func newScrape(
	c *ScrapeConfig, h *Health, metrics prometheus.Gatherer, client kubernetes.Interface, giver http.Handler,
	logger *slog.Logger,
) (*httpport.Server, error) {
	config := httpport.Config{Address: c.Address, Logger: logger, Answer: answerWithin}
	if c.CertFile != "" {
		var err error
		if config.TLS, err = httpport.Certificate(c.CertFile, c.KeyFile, logger); err != nil {
			return nil, fmt.Errorf("serve metrics: %w", err)
		}
	}
	asks := &httpport.Delegated{Client: client, Logger: logger}
	var guard func(http.Handler) http.Handler
	if c.Authorize {
		guard = asks.Guard
	}
	mux := http.NewServeMux()
	h.serve(mux, metrics, guard)
	if giver != nil && config.TLS != nil { // records only over TLS, because the client sends a token
		mux.Handle(recordsPath, asks.GuardAs(recordsPath, giver))
	}
	config.Handler = mux
	server, err := httpport.Listen(config)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	return server, nil
}

// serve adds the paths of probes and metrics to mux (O-035). guard checks the rights of clients that read metrics; nil
// for no check. Probes are never guarded, because the kubelet has no token.
func (h *Health) serve(mux *http.ServeMux, metrics prometheus.Gatherer, guard func(http.Handler) http.Handler) {
	if guard == nil {
		guard = func(next http.Handler) http.Handler { return next }
	}
	mux.Handle("GET /healthz", h.Probe("healthz", false))
	mux.Handle("GET /livez", h.Probe("livez", false))
	mux.Handle("GET /readyz", h.Probe("readyz", true))
	mux.Handle("GET /metrics", guard(h.oneAtATime(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))))
	mux.Handle("GET /metrics/slis", guard(h.oneAtATime(h.indicators())))
}

// oneAtATime returns a handler that computes one answer at a time, over all ports. A scrape gathers all metrics; a
// thousand scrapes at once would take a thousand times the memory and CPU. An answer is sent only when it is complete,
// so a client that does not read its answer blocks no other client.
func (h *Health) oneAtATime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := whole{header: http.Header{}, status: http.StatusOK}
		h.scraping.Lock()
		if r.Context().Err() == nil { // no answer is computed for a client that is gone
			next.ServeHTTP(&answer, r)
		}
		h.scraping.Unlock()
		maps.Copy(w.Header(), answer.header)
		w.WriteHeader(answer.status)
		_, _ = answer.body.WriteTo(w) // an error means that the client is gone
	})
}

// whole is an http.ResponseWriter that collects an answer in memory.
type whole struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *whole) Header() http.Header         { return a.header }
func (a *whole) WriteHeader(status int)      { a.status = status }
func (a *whole) Write(b []byte) (int, error) { return a.body.Write(b) }

// stopServing stops the server, and waits up to 5 seconds for the answers in flight.
func stopServing(s *httpport.Server) {
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	_ = s.Shutdown(bound) // an answer that is cut off does no harm
}

package controller

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/httpport"
)

// answerWithin is how long probes and scrapes may take.
const answerWithin = 30 * time.Second

// newScrape listens. Its answers tell nothing of any Job, so who may read them matters only to those who say so.
func newScrape(c *ScrapeConfig, h *Health, metrics prometheus.Gatherer, client kubernetes.Interface, logger *slog.Logger) (*httpport.Server, error) {
	config := httpport.Config{Address: c.Address, Logger: logger, Answer: answerWithin}
	if c.CertFile != "" {
		var err error
		if config.TLS, err = httpport.Certificate(c.CertFile, c.KeyFile, logger); err != nil {
			return nil, fmt.Errorf("serve metrics: %w", err)
		}
	}
	var guard func(http.Handler) http.Handler
	if c.Authorize {
		guard = (&httpport.Delegated{Client: client, Logger: logger}).Guard
	}
	mux := http.NewServeMux()
	h.serve(mux, metrics, guard)
	config.Handler = mux
	server, err := httpport.Listen(config)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	return server, nil
}

// serve adds the paths of probes and metrics (O-035). Probes are always answered: the kubelet has no token.
func (h *Health) serve(mux *http.ServeMux, metrics prometheus.Gatherer, guard func(http.Handler) http.Handler) {
	if guard == nil {
		guard = func(next http.Handler) http.Handler { return next }
	}
	mux.Handle("GET /healthz", h.Probe("healthz", false))
	mux.Handle("GET /livez", h.Probe("livez", false))
	mux.Handle("GET /readyz", h.Probe("readyz", true))
	mux.Handle("GET /metrics", guard(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{})))
	mux.Handle("GET /metrics/slis", guard(h.indicators()))
}

// stopServing waits a little for answers that are being given.
func stopServing(s *httpport.Server) {
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	_ = s.Shutdown(bound) // nothing is lost with an answer
}

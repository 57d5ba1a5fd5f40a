package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrape answers probes and scrapers of other machines. It tells nothing of any Job, so it needs no access control.
type scrape struct {
	url    string
	listen net.Listener
	server *http.Server
}

// newScrape listens.
func newScrape(address string, h *health, metrics prometheus.Gatherer) (*scrape, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	mux := http.NewServeMux()
	h.serve(mux, metrics)
	return &scrape{
		url: "http://" + listener.Addr().String(), listen: listener,
		server: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second},
	}, nil
}

// serve adds the paths of probes and metrics (O-035).
func (h *health) serve(mux *http.ServeMux, metrics prometheus.Gatherer) {
	mux.Handle("GET /healthz", h.probe(false))
	mux.Handle("GET /livez", h.probe(false))
	mux.Handle("GET /readyz", h.probe(true))
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
}

// run answers until close is called.
func (s *scrape) run() error {
	if err := s.server.Serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.url, err)
	}
	return nil
}

// close waits a little for answers that are being given.
func (s *scrape) close() {
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if s.server.Shutdown(bound) != nil {
		_ = s.server.Close() // who reads that slowly loses the answer
	}
}

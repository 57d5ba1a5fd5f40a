package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/httpport"
)

// scrapeFlags say where probes and scrapers of other machines are answered, and which.
type scrapeFlags struct {
	address           string // empty for nowhere
	certFile, keyFile string // empty for plain HTTP
	authorize         bool
}

func (f *scrapeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "metrics-bind-address", "", "address for health and metrics alone, such as :10272; empty or 0 for none")
	flags.StringVar(&f.certFile, "metrics-tls-cert-file", "", "certificate for --metrics-bind-address; it is read again when it changes")
	flags.StringVar(&f.keyFile, "metrics-tls-key-file", "", "key of that certificate")
	flags.BoolVar(&f.authorize, "metrics-authorize", false, "ask the API server who may read the metrics at --metrics-bind-address (TokenReview, SubjectAccessReview)")
}

// validate refuses what does not go together.
func (f *scrapeFlags) validate() error {
	if f.address == "0" {
		f.address = "" // as other controllers spell it
	}
	switch {
	case (f.certFile == "") != (f.keyFile == ""):
		return usage("--metrics-tls-cert-file and --metrics-tls-key-file go together: give both")
	case f.address == "" && (f.certFile != "" || f.authorize):
		return usage("--metrics-tls-cert-file, --metrics-tls-key-file and --metrics-authorize go with --metrics-bind-address")
	case f.authorize && f.certFile == "":
		return usage("--metrics-authorize takes tokens, which need TLS: give --metrics-tls-cert-file and --metrics-tls-key-file")
	case f.address == "":
		return nil
	}
	if err := checkAddress(f.address); err != nil {
		return &usageError{fmt.Sprintf("--metrics-bind-address=%s: %v", f.address, err)}
	}
	return nil
}

// answerWithin is how long probes and scrapes may take.
const answerWithin = 30 * time.Second

// newScrape listens. Its answers tell nothing of any Job, so who may read them matters only to those who say so.
func newScrape(f *scrapeFlags, h *health, metrics prometheus.Gatherer, client kubernetes.Interface, logger *slog.Logger) (*httpport.Server, error) {
	config := httpport.Config{Address: f.address, Logger: logger, Answer: answerWithin}
	if f.certFile != "" {
		var err error
		if config.TLS, err = httpport.Certificate(f.certFile, f.keyFile, logger); err != nil {
			return nil, fmt.Errorf("serve metrics: %w", err)
		}
	}
	var guard func(http.Handler) http.Handler
	if f.authorize {
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
func (h *health) serve(mux *http.ServeMux, metrics prometheus.Gatherer, guard func(http.Handler) http.Handler) {
	if guard == nil {
		guard = func(next http.Handler) http.Handler { return next }
	}
	mux.Handle("GET /healthz", h.probe("healthz", false))
	mux.Handle("GET /livez", h.probe("livez", false))
	mux.Handle("GET /readyz", h.probe("readyz", true))
	mux.Handle("GET /metrics", guard(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{})))
	mux.Handle("GET /metrics/slis", guard(h.indicators()))
}

// stopServing waits a little for answers that are being given.
func stopServing(s *httpport.Server) {
	bound, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	_ = s.Shutdown(bound) // nothing is lost with an answer
}

package controller

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// slis counts the results of the health checks under the metric names that the components of Kubernetes use at
// /metrics/slis.
type slis struct {
	once     sync.Once
	registry *prometheus.Registry
	now      *prometheus.GaugeVec
	results  *prometheus.CounterVec
}

func (s *slis) init() {
	s.registry = prometheus.NewRegistry()
	s.now = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubernetes_healthcheck", Help: "The result of a single health check.",
	}, []string{"name", "type"})
	s.results = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kubernetes_healthchecks_total", Help: "The results of all health checks.",
	}, []string{"name", "type", "status"})
	s.registry.MustRegister(s.now, s.results)
}

// note counts the results of all checks of one request to a probe.
func (s *slis) note(probe string, checks []check) {
	s.once.Do(s.init)
	for _, c := range checks {
		value, status := 1.0, "success"
		if c.says != "" {
			value, status = 0, "error"
		}
		s.now.WithLabelValues(c.name, probe).Set(value)
		s.results.WithLabelValues(c.name, probe, status).Inc()
	}
}

// indicators serves /metrics/slis: the current result of each health check, and how often each had which result.
func (h *Health) indicators() http.Handler {
	h.slis.once.Do(h.slis.init)
	handler := promhttp.HandlerFor(h.slis.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, probe := range []string{"healthz", "livez", "readyz"} {
			h.slis.note(probe, h.checks(probe == "readyz"))
		}
		handler.ServeHTTP(w, r)
	})
}

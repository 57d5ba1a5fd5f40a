package controller

import (
	"context"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"
	restmetrics "k8s.io/client-go/tools/metrics"
)

// The metrics of client-go, under the names and labels that the components of Kubernetes use, so that the same
// dashboards work. client-go's hooks are global to the process, and so are these metrics. The package
// k8s.io/component-base has the same adapters, but would add a second registry and many modules.
var (
	seconds = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	sizes   = []float64{64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216}

	requestSeconds = histogram("request_duration_seconds", "Time of requests to the API server.", seconds, "verb", "host")
	limiterSeconds = histogram("rate_limiter_duration_seconds", "Time that requests waited for a rate limiter of ours.", seconds, "verb", "host")
	resolveSeconds = histogram("dns_resolution_duration_seconds", "Time to resolve the API server's name.", seconds, "host")
	requestBytes   = histogram("request_size_bytes", "Bytes of requests.", sizes, "verb", "host")
	responseBytes  = histogram("response_size_bytes", "Bytes of answers.", sizes, "verb", "host")
	requestsTotal  = restCounter("requests_total", "Requests to the API server, by the code of the answer.", "code", "method", "host")
	retriesTotal   = restCounter("request_retries_total", "Tries of requests after the first.", "code", "verb", "host")

	slowPaths = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leader_election_slowpath_total",
		Help: "Renewals of the Lease that had to read it first, because what was known of it was not its newest version.",
	}, []string{"name"})

	hook sync.Once
)

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "rest_client", Name: name, Help: help, Buckets: buckets}, labels)
}

func restCounter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "rest_client", Name: name, Help: help}, labels)
}

// registerClientMetrics adds the metrics of client-go to r. The first call also installs client-go's hooks, which fill
// them.
func registerClientMetrics(r prometheus.Registerer) {
	r.MustRegister(requestSeconds, limiterSeconds, resolveSeconds, requestBytes, responseBytes, requestsTotal, retriesTotal, slowPaths)
	hook.Do(func() {
		restmetrics.Register(restmetrics.RegisterOpts{
			RequestLatency: latency{requestSeconds}, RateLimiterLatency: latency{limiterSeconds}, ResolverLatency: resolved{},
			RequestSize: bytesOf{requestBytes}, ResponseSize: bytesOf{responseBytes}, RequestResult: result{}, RequestRetry: result{},
		})
		leaderelection.SetProvider(leaders{})
	})
}

type latency struct{ *prometheus.HistogramVec }

// Observe implements restmetrics.LatencyMetric: it records how long a request to the API server took.
func (l latency) Observe(_ context.Context, verb string, u url.URL, took time.Duration) {
	l.WithLabelValues(verb, u.Host).Observe(took.Seconds())
}

type resolved struct{}

// Observe implements restmetrics.ResolverLatencyMetric: it records how long it took to resolve the API server's name.
func (resolved) Observe(_ context.Context, host string, took time.Duration) {
	resolveSeconds.WithLabelValues(host).Observe(took.Seconds())
}

type bytesOf struct{ *prometheus.HistogramVec }

// Observe implements restmetrics.SizeMetric: it records the size of a request or of an answer, in bytes.
func (b bytesOf) Observe(_ context.Context, verb, host string, size float64) {
	b.WithLabelValues(verb, host).Observe(size)
}

type result struct{}

// Increment implements restmetrics.ResultMetric: it counts an answered request, by its status code.
func (result) Increment(_ context.Context, code, method, host string) {
	requestsTotal.WithLabelValues(codeOf(code), method, host).Inc()
}

// IncrementRetry implements restmetrics.RetryMetric: it counts a request that is sent again.
func (result) IncrementRetry(_ context.Context, code, method, host string) {
	retriesTotal.WithLabelValues(codeOf(code), method, host).Inc()
}

// codeOf returns a numeric status code unchanged, and "<error>" when there was no answer.
func codeOf(code string) string {
	if _, err := strconv.Atoi(code); err != nil {
		return "<error>"
	}
	return code
}

// leaders counts slow paths of client-go's leader election. It ignores On and Off: a gauge of our own (registerLease)
// says whether the Lease is held, because this controller decides that in a stricter way than client-go.
type leaders struct{}

// NewLeaderMetric implements leaderelection.MetricsProvider: it returns what client-go's leader election reports to.
func (leaders) NewLeaderMetric() leaderelection.LeaderMetric { return leaders{} }

// On implements leaderelection.LeaderMetric; it does nothing.
func (leaders) On(string) {}

// Off implements leaderelection.LeaderMetric; it does nothing.
func (leaders) Off(string) {}

// SlowpathExercised implements leaderelection.LeaderMetric: it counts a renewal of the Lease that had to read it first.
func (leaders) SlowpathExercised(name string) { slowPaths.WithLabelValues(name).Inc() }

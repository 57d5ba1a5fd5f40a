package metrics

import (
	stdsync "sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/events"
)

// Namespace is the prefix of the metrics' names.
const Namespace = "job_controller"

// The values of labels of the metrics.
const (
	indexed, nonIndexed = "Indexed", "NonIndexed"

	resultSuccess, resultError = "success", "error" // of syncs

	succeeded, failed = "succeeded", "failed"

	actionReconciling = "reconciling"  // the Job ends or is deleted, so its pods are not managed any more
	actionTracking    = "tracking"     // the pods are as they should be
	actionCreated     = "pods_created" // pods are to be created
	actionDeleted     = "pods_deleted" // pods are scaled down, or the Job is suspended

	eventAdd, eventDelete = "add", "delete"

	perIndex, global = "perIndex", "global"

	createNew                = "new"
	createTerminatingOrFails = "recreate_terminating_or_failed"
	createFailed             = "recreate_failed"
)

// ofTTL is the prefix of the metric about deletions of expired Jobs, as in the built-in TTL controller.
const ofTTL = "ttl_after_finished_controller"

// ofCronJobs is the prefix of the metric about Jobs that CronJobs created, as in the built-in controller.
const ofCronJobs = "cronjob_controller"

// Metrics is the Prometheus collector of all metrics of this package. It implements prometheus.Collector.
type Metrics struct {
	syncSeconds     *prometheus.HistogramVec
	syncs           *prometheus.CounterVec
	jobsFinished    *prometheus.CounterVec
	podsFinished    *prometheus.CounterVec
	policyFailures  *prometheus.CounterVec
	terminatedPods  *prometheus.CounterVec
	indexesFinished *prometheus.CounterVec
	podsCreated     *prometheus.CounterVec
	externalJobs    *prometheus.CounterVec
	staleSyncSkips  *prometheus.CounterVec
	deletionSeconds prometheus.Histogram
	skewSeconds     prometheus.Histogram
	all             []prometheus.Collector

	controllers, reasons names // values of labels that users choose

	retrying retrying
}

// New returns Metrics without any counts.
func New() *Metrics {
	m := &Metrics{}
	m.syncSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: Namespace, Name: "job_sync_duration_seconds",
		Help:    "The time from a decision about a Job to the end of the last of its commands.",
		Buckets: prometheus.ExponentialBuckets(0.004, 2, 15),
	}, []string{"completion_mode", "result", "action"})
	m.all = append(m.all, m.syncSeconds)
	m.syncs = m.counter("job_syncs_total",
		"The number of decisions about Jobs, with the commands they asked for carried out.", "completion_mode", "result", "action")
	m.jobsFinished = m.counter("jobs_finished_total", "The number of finished Jobs.", "completion_mode", "result", "reason")
	m.podsFinished = m.counter("job_pods_finished_total",
		"The number of pods that ended and are fully accounted for.", "completion_mode", "result")
	m.policyFailures = m.counter("pod_failures_handled_by_failure_policy_total",
		"The number of failed pods that a rule of a podFailurePolicy matched, by the action of the rule.", "action")
	m.terminatedPods = m.counter("terminated_pods_tracking_finalizer_total",
		"The number of ended pods that began (add) or ceased (delete) to hold the tracking finalizer.", "event")
	m.indexesFinished = m.counter("job_finished_indexes_total", "The number of finished indexes.", "status", "backoffLimit")
	m.podsCreated = m.counter("job_pods_creation_total", "The number of pods created, and of creations refused.", "reason", "status")
	m.externalJobs = m.counter("jobs_by_external_controller_total",
		"The number of Jobs that appeared and that another controller runs.", "controller_name")
	m.staleSyncSkips = m.counter("stale_sync_skips_total",
		"Always 0: a decision is made on what this controller wrote itself as well, so none is skipped for a stale view.",
		"group", "resource")
	m.staleSyncSkips.WithLabelValues("", "pods")
	m.staleSyncSkips.WithLabelValues("batch", "jobs")
	m.deletionSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: ofTTL, Name: "job_deletion_duration_seconds",
		Help:    "How long after its TTL had passed a finished Job was deleted.",
		Buckets: prometheus.ExponentialBuckets(0.1, 2, 14),
	})
	m.skewSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: ofCronJobs, Name: "job_creation_skew_duration_seconds",
		Help:    "How long after it was due a Job of a CronJob was created, by the API server's clock.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 10),
	})
	m.all = append(m.all, m.deletionSeconds, m.skewSeconds)
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, labels)
	m.all = append(m.all, c)
	return c
}

// Foreign counts a new Job that the controller managedBy runs (J-204). It ignores an empty name. The creators of Jobs
// choose these names, so only the first mostNames get a label value of their own.
func (m *Metrics) Foreign(managedBy string) {
	if managedBy != "" && managedBy != events.BuiltinManagedBy {
		m.externalJobs.WithLabelValues(m.controllers.of(managedBy)).Inc()
	}
}

// names holds label values that users choose. After mostNames values, each new one counts as otherNames. It is safe for
// concurrent use.
type names struct {
	mu    stdsync.Mutex
	known map[string]bool
}

const (
	mostNames  = 20
	otherNames = "other"
)

// of returns the label value for a name that a user chose.
func (n *names) of(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.known[name]:
		return name
	case len(n.known) >= mostNames:
		return otherNames
	case n.known == nil:
		n.known = map[string]bool{}
	}
	n.known[name] = true
	return name
}

// Describe implements prometheus.Collector: it sends the descriptions of all metrics.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector: it sends the current values of all metrics.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.all {
		c.Collect(to)
	}
}

package controller

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/informer"
	jobmetrics "github.com/jobledger/jobledger/events/metrics"
	"github.com/jobledger/jobledger/reconciler/executor"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// metrics are the Prometheus metrics of one run of the controller.
type metrics struct {
	registry prometheus.Registerer
	turns    prometheus.Counter
	records  prometheus.Histogram
	kinds    *prometheus.CounterVec
	commands *prometheus.CounterVec
	refused  *prometheus.GaugeVec
	overdue  overdue             // CronJobs that are late with a run; only the loop's goroutine uses it
	ofJobs   *jobmetrics.Metrics // under the metric names of the built-in controller
	jobs     atomic.Int64
	stubs    atomic.Int64
	over     atomic.Int64 // namespaces over their log budget
	moved    atomic.Int64 // CronJobs whose due times changed at this start, by newer zone rules
	// versions of objects that were not recorded, because their namespace was over its log budget
	passed   atomic.Uint64
	appended atomic.Uint64
	written  atomic.Uint64 // bytes of the appended records
}

// registerProgram adds the metrics of the process itself, which exist even while the controller waits.
func registerProgram(r prometheus.Registerer, b Program) {
	r.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "jobledger_build_info", Help: "Always 1; the labels say which program this is.",
			ConstLabels: prometheus.Labels{"version": b.Version, "go": b.Go, "commit": b.Commit},
		}, func() float64 { return 1 }),
	)
	registerClientMetrics(r)
}

func newMetrics(registry prometheus.Registerer, log store.Reader) *metrics {
	m := &metrics{
		registry: registry,
		turns: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jobledger_turns_total", Help: "Turns of the loop that wrote a batch of records.",
		}),
		records: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "jobledger_turn_records", Help: "Records of one batch.", Buckets: prometheus.ExponentialBuckets(1, 4, 8),
		}),
		kinds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jobledger_records_total", Help: "Records written, by kind.",
		}, []string{"kind"}),
		commands: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jobledger_commands_total",
			Help: "Commands that ended, by kind, ending (done, refused, unknown, withdrawn) and the class of a refusal.",
		}, []string{"kind", "ending", "class"}),
		refused: newRefused(), overdue: newOverdue(), ofJobs: jobmetrics.New(),
	}
	m.appended.Store(uint64(log.Head().Sequence))
	m.registry.MustRegister(m.turns, m.records, m.kinds, m.commands, m.refused, m.overdue.gauge)
	m.gauge("jobledger_log_sequence", "Sequence of the newest durable record.", func() float64 {
		return float64(log.Head().Sequence)
	})
	m.gauge("jobledger_log_waiting_records", "Records that are being written and are not durable.", func() float64 {
		return max(0, float64(m.appended.Load())-float64(log.Head().Sequence))
	})
	m.gauge("jobledger_jobs", "Jobs that are kept in memory: those that run, wait, or have pods with a finalizer to remove.", func() float64 {
		return float64(m.jobs.Load())
	})
	m.gauge("jobledger_namespaces_over_budget", "Namespaces that filled more of the log than --log-namespace-budget.", func() float64 {
		return float64(m.over.Load())
	})
	m.gauge("jobledger_cronjobs_moved_by_zone_data", "CronJobs whose next due times are other ones since this start: its time zone database has other rules.", func() float64 {
		return float64(m.moved.Load())
	})
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "jobledger_versions_passed_over_total",
		Help: "Versions of objects that were seen and not recorded, because their namespaces are over their budgets.",
	}, func() float64 { return float64(m.passed.Load()) }))
	m.gauge("jobledger_finished_jobs", "Finished Jobs in memory, as small stubs.", func() float64 {
		return float64(m.stubs.Load())
	})
	return m
}

func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// disk adds metrics of the disk space that the log's files use, if the system can report it.
func (m *metrics) disk(log store.Filed) {
	if _, _, err := log.Usage(); err != nil {
		return
	}
	usage := func(pick func(bytes, free int64) int64) func() float64 {
		return func() float64 {
			bytes, free, err := log.Usage()
			if err != nil {
				return math.NaN() // the disk cannot be read; an old number would hide this
			}
			return float64(pick(bytes, free))
		}
	}
	m.gauge("jobledger_log_bytes", "Bytes of the log's files, with what is held ahead in them.",
		usage(func(bytes, _ int64) int64 { return bytes }))
	m.gauge("jobledger_log_free_bytes", "Bytes that are free on the log's file system.",
		usage(func(_, free int64) int64 { return free }))
}

// parts adds the metrics of the queue, the informer, the executor and the health checks.
func (m *metrics) parts(q *loop.Queue, i *informer.Informer, e *executor.Executor, h *Health) {
	m.gauge("jobledger_queue_inputs", "Observations and outcomes that wait for a turn of the loop.", func() float64 {
		return float64(q.Len())
	})
	m.gauge("jobledger_informer_observations", "Observations that the loop has not taken yet.", func() float64 {
		return float64(i.Waiting())
	})
	for _, c := range h.checks(true) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "jobledger_ready", Help: "1 while the part is ready, as /readyz says.",
			ConstLabels: prometheus.Labels{"check": c.name},
		}, func() float64 { return h.ok(c.name) }))
	}
	if e == nil { // observe mode executes no commands
		return
	}
	m.gauge("jobledger_commands_waiting", "Commands that have not been sent.", func() float64 {
		return float64(e.Stats().Waiting)
	})
	m.gauge("jobledger_commands_in_flight", "Commands that were sent and not answered.", func() float64 {
		return float64(e.Stats().InFlight)
	})
	m.gauge("jobledger_commands_limit", "Commands that may be in flight at once; it adapts to the API server.", func() float64 {
		return float64(e.Stats().Limit)
	})
}

// ok returns 1 if the health check of this name passes, and 0 otherwise.
func (h *Health) ok(name string) float64 {
	for _, c := range h.checks(true) {
		if c.name == name && c.says != "" {
			return 0
		}
	}
	return 1
}

// countedLog is a log that counts the records appended to it.
type countedLog struct {
	store.Log
	metrics *metrics
}

// Append implements store.Log: it passes the batch to the log, and counts its records and bytes. The log uses soon.
func (l countedLog) Append(b events.Batch, soon bool) store.Commit {
	m := l.metrics
	m.turns.Inc()
	m.records.Observe(float64(len(b.Records)))
	m.appended.Store(uint64(b.Last()))
	for i := range b.Records {
		m.kinds.WithLabelValues(b.Records[i].Kind.String()).Inc()
	}
	commit := l.Log.Append(b, soon)
	m.written.Add(uint64(max(0, commit.Bytes())))
	return commit
}

// countedExecutor is an executor that counts the results of commands. A command that is submitted, or withdrawn by
// TakeBack, has exactly one result.
type countedExecutor struct {
	loop.Executor
	metrics *metrics

	mu    sync.Mutex
	kinds map[events.CommandID]string
}

func newCountedHands(hands loop.Executor, m *metrics) *countedExecutor {
	return &countedExecutor{Executor: hands, metrics: m, kinds: map[events.CommandID]string{}}
}

// Submit implements loop.Executor: it passes the commands on, and remembers their kinds until their results come.
func (h *countedExecutor) Submit(tasks ...events.Task) {
	h.expect(tasks)
	h.Executor.Submit(tasks...)
}

// TakeBack implements loop.Executor: it withdraws commands that have not begun, and remembers their kinds until their
// results come.
func (h *countedExecutor) TakeBack(tasks ...events.Task) {
	h.expect(tasks)
	h.Executor.TakeBack(tasks...)
}

func (h *countedExecutor) expect(tasks []events.Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range tasks {
		h.kinds[tasks[i].Name] = tasks[i].Command.Traits().Name
	}
}

func (h *countedExecutor) ended(r *events.TaskResult) {
	h.mu.Lock()
	kind := h.kinds[r.Ended.Command]
	delete(h.kinds, r.Ended.Command)
	h.mu.Unlock()
	class := ""
	if r.Ended.Ending == events.Refused {
		class = r.Ended.Class.String()
		h.metrics.ofJobs.Refused(r.Ended.Command)
	}
	h.metrics.commands.WithLabelValues(kind, r.Ended.Ending.String(), class).Inc()
}

package replicating

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/store/natslog/exchange"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("jobledger_replication_"+name, help, labels, nil)
}

// The metrics of a replica. Each process has its own view: a standby compares the others with its own log.
var (
	heard = desc("replicas_heard", "Other replicas of the log that were heard within the last 3 s.")
	lag   = desc("lag_records",
		"Records of this replica that another one, heard at any time since the start, had not on its disk when it was heard last.",
		"replica", "id")
	silent = desc("silent_seconds", "How long ago such a replica was heard last.", "replica", "id")
	leads  = desc("leads", "1 for the replica that says that it writes the stream, 0 for the others; this one has no id.",
		"replica", "id")
	behind = desc("behind_seconds",
		"How long ago this replica had read all that the stream had; 0 while it leads, NaN before it was so for the first time.")
	waiting = desc("waiting_seconds", "How long the oldest group of records has been waiting for the stream to store it.")
	bytes   = desc("stream_bytes", "Bytes of the stream's messages, as the servers said last.")
	voids   = desc("void_segments_total", "Messages of the stream that were read and count for nothing: of a writer that was succeeded, or foreign.")
)

// Describe is described by prometheus.Collector.
func (m *Member) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{heard, lag, silent, leads, behind, waiting, bytes, voids} {
		all <- d
	}
}

// Collect is described by prometheus.Collector. It may be called after Begin.
func (m *Member) Collect(all chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	_, own := m.log.Durable()
	near := 0
	for _, h := range m.exchange.Known() {
		host, id := label(&h)
		if !h.Away() {
			near++
		}
		missing := 0.0
		if h.Head.Sequence < own.Sequence {
			missing = float64(own.Sequence - h.Head.Sequence)
		}
		gauge(lag, missing, host, id)
		gauge(silent, time.Since(h.Heard).Seconds(), host, id)
		gauge(leads, number(h.Leads && !h.Away()), host, id)
	}
	host, _, _ := strings.Cut(m.config.Name, "_")
	gauge(leads, number(m.leads.Load()), host, "")
	gauge(heard, float64(near))
	gauge(bytes, float64(m.bytes.Load()))
	void, late := m.follower.Voids(), m.current.age(time.Now())
	if m.leads.Load() {
		void, late = m.line.State().Voids, 0
	}
	gauge(behind, late)
	gauge(waiting, m.line.Waits().Seconds())
	all <- prometheus.MustNewConstMetric(voids, prometheus.CounterValue, float64(void))
}

// label returns the host of a replica and the beginning of its ID, which both stay the same when it is started again.
func label(h *exchange.Head) (host, id string) {
	const digits = 8
	host, _, _ = strings.Cut(h.Name, "_")
	return host, h.Replica[:min(digits, len(h.Replica))]
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

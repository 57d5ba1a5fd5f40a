package replicating

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jobledger/jobledger/internal/run/replicametrics"
	"github.com/jobledger/jobledger/store/natslog/exchange"
)

// The metrics of the log's NATS stream, in addition to those of package replicametrics.
var (
	waiting = replicametrics.Desc("waiting_seconds",
		"How long the oldest group of records has been waiting for the stream to store it.")
	bytes      = replicametrics.Desc("stream_bytes", "Bytes of the stream's messages, as the servers said last.")
	lostStream = replicametrics.Desc("stream_lost",
		"1 while the stream is gone, or ends before this process's log: records of it are on the replicas' disks alone.")
	voids = replicametrics.Desc("void_segments_total",
		"Messages of the stream that were read and count for nothing: of a writer that was succeeded, or foreign.")
)

// Describe implements prometheus.Collector: it sends the descriptions of the metrics.
func (m *Member) Describe(all chan<- *prometheus.Desc) {
	replicametrics.Describe(all)
	for _, d := range []*prometheus.Desc{waiting, bytes, voids, lostStream} {
		all <- d
	}
}

// Collect implements prometheus.Collector: it sends the current values of the metrics. Call it only after Begin.
func (m *Member) Collect(all chan<- prometheus.Metric) {
	_, own := m.log.Durable()
	v := replicametrics.View{
		Host: replicametrics.Host(m.config.Name), Leads: m.leads.Load(), AsOf: m.current.last(), Now: time.Now(),
	}
	for _, h := range m.exchange.Known() {
		host, id := label(&h)
		o := replicametrics.Other{Host: host, ID: id, Silent: time.Since(h.Heard), Leads: h.Leads}
		if h.Head.Sequence < own.Sequence {
			o.Lacks = uint64(own.Sequence - h.Head.Sequence)
		}
		v.Others = append(v.Others, o)
	}
	v.Collect(all)
	void := uint64(0)
	if f := m.follower.Load(); f != nil {
		void = f.Voids()
	}
	if v.Leads {
		void = m.line.State().Voids
	}
	short := 0.0
	if !v.Leads && m.Short() != nil {
		short = 1
	}
	replicametrics.Gauge(all, lostStream, short)
	replicametrics.Gauge(all, bytes, float64(m.bytes.Load()))
	replicametrics.Gauge(all, waiting, m.line.Waits().Seconds())
	all <- prometheus.MustNewConstMetric(voids, prometheus.CounterValue, float64(void))
}

// label returns the labels of a replica's metrics: its host, and the first 8 digits of its ID. They stay the same after
// a restart.
func label(h *exchange.Head) (host, id string) {
	const digits = 8
	return replicametrics.Host(h.Name), h.Replica[:min(digits, len(h.Replica))]
}
